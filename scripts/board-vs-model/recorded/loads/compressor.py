import random, subprocess, time
random.seed(7)
xz = subprocess.Popen(["xz", "-0", "-T1", "-c", "--flush-timeout=1"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
words = [bytes(random.choices(range(97, 123), k=random.randint(2, 9))) for _ in range(4000)]
while True:
    time.sleep(random.uniform(0.1, 0.5))
    block = b" ".join(random.choices(words, k=random.choice([2000, 5000, 40000, 80000])))
    xz.stdin.write(block); xz.stdin.flush()
