#!/bin/busybox sh
# The guest's first process. Mounts what a system needs, loads the modules, compares its clock
# with the board's, runs the command with its output on two virtio ports, reports its status, powers off.
#
# /board in the RAM disk says what to do: modules (load order), cpufreq (modules that come last,
# because they make the CPUs slow), root and share (present where the host gives them), command, facts
# (what the board is, for programs that want to know: /run/board/facts.toml).
# Port "control" carries lines to the host, which answers each with one line:
#   note TEXT | tick NANOSECONDS (answer: the board's clock) | tock NANOSECONDS | up RELEASE | exit N
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev

notes=
load() {
  while read -r m; do
    insmod "/modules/$m.ko" || notes="$notes $m"
  done
}
load </board/modules

mount -t tracefs trace /sys/kernel/tracing 2>/dev/null
mount -t debugfs debug /sys/kernel/debug 2>/dev/null
mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null
mkdir -p /dev/pts /dev/shm
mount -t devpts devpts /dev/pts
mount -t tmpfs shm /dev/shm
ip link set lo up

# device of a named virtio port; it may take a moment to appear
port() {
  tries=0
  while :; do
    for name in /sys/class/virtio-ports/*/name; do
      [ -e "$name" ] && [ "$(cat "$name")" = "$1" ] && name=${name%/name} && echo "/dev/${name##*/}" && return
    done
    tries=$((tries + 1))
    [ $tries -lt 100 ] || { echo "flyball: no virtio port $1" >/dev/console; poweroff -f; }
    sleep 0.1
  done
}
exec 3>"$(port out)" 4>"$(port err)" 5<>"$(port control)"

tell() { # one line to the host; its answer is in $answer
  echo "$*" >&5
  read -r answer <&5
}

# CLOCK_MONOTONIC in nanoseconds, without starting a program
clock() {
  while read -r a b c rest; do
    [ "$a $b" = "now at" ] && ns=$c && return
  done </proc/timer_list
  return 1
}

# The answer was made between tick and tock: that bounds the offset of the two clocks.
compare_clocks() {
  for round in 1 2 3 4 5 6 7 8; do
    clock || return
    tell tick "$ns"
    clock
    tell tock "$ns"
  done
}

mount_9p() { mount -t 9p -o "trans=virtio,version=9p2000.L,msize=512000,$3" "$1" "$2"; }
root=/
if [ -e /board/root ]; then
  # the host's directory below, never written; a RAM disk above
  if mount_9p root /lower ro,cache=loose && mount -t tmpfs upper /upper && mkdir /upper/files /upper/work &&
    mount -t overlay -o lowerdir=/lower,upperdir=/upper/files,workdir=/upper/work root /newroot; then
    root=/newroot
    for d in proc sys dev; do
      mkdir -p $root/$d
      mount -o rbind /$d $root/$d
    done
  else
    tell note "cannot mount the root directory"
  fi
fi
mkdir -p $root/run
mount -t tmpfs run $root/run
mkdir -p $root/run/board/bin $root/run/share
if [ -e /board/bin ]; then mount_9p bin $root/run/board/bin ro,cache=loose || tell note "cannot mount /run/board/bin"; fi
if [ -e /board/share ]; then mount_9p share $root/run/share cache=none || tell note "cannot mount /run/share"; fi
cp /board/command $root/run/board/command
cp /board/facts $root/run/board/facts.toml

for m in $notes; do tell note "cannot load module $m"; done
notes=
compare_clocks
load </board/cpufreq
for m in $notes; do tell note "cannot load module $m"; done
ls /sys/devices/system/cpu/cpufreq/policy* >/dev/null 2>&1 || tell note "no cpufreq policy appeared"
tell up "$(uname -r)"

export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/board/bin
chroot $root /bin/sh /run/board/command </dev/null 1>&3 2>&4 3>&- 4>&- 5>&-
status=$?
export PATH=/bin
exec 3>&- 4>&-
tell exit $status # the host lifts the slowing before it answers
compare_clocks
sync
poweroff -f
