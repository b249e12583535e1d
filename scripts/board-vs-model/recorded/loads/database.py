"""sqlite3 over 200,000 rows: lookups of some rows, and now and then a scan of all."""
import random
import subprocess
import time

random.seed(5)
database = subprocess.Popen(["sqlite3", ":memory:"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def query(text):
    database.stdin.write(text + "\n.print done\n")
    database.stdin.flush()
    while database.stdout.readline().strip() != "done":
        pass


query("create table t(a integer primary key, b text); with recursive c(x) as (select 1 union all select x + 1 from c"
      " where x < 200000) insert into t select x, hex(randomblob(8)) from c;")
time.sleep(0.5)
while True:
    time.sleep(random.uniform(0.05, 0.25))
    if random.random() < 0.3:
        query(f"select count(*), max(b) from t where b like '%A{random.randint(0, 9)}%' or a % {random.randint(2, 9)} = 0;")
    else:
        first = random.randint(1, 190000)
        query(f"select sum(a), max(b) from t where a between {first} and {first + random.randint(1000, 4000)};")
