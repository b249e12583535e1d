import random,time,urllib.request
random.seed(3)
for i in range(40):
    time.sleep(random.expovariate(1/0.25)); urllib.request.urlopen("http://127.0.0.1:8799/"+"a"*random.randint(1,9)).read()
