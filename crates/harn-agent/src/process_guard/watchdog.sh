# Harn's watchdog: ends what process $1 has started, once that process is gone.
exec 3<&2 2>/dev/null
trap '' HUP INT QUIT TERM TSTP TTIN TTOU PIPE ALRM USR1 USR2
cd /

# Nothing is ever written. This ends when the process that holds the other end has died.
while read -r _; do :; done

has_proc=$([ -r /proc/self/stat ] && echo yes)

# State, parent and group of a process. What stands before them is its name, and may be anything.
facts_of() {
  line=$(cat "/proc/$1/stat") && echo "${line##*) }"
}

# Whether a process has this number and has not ended. One that nobody has reaped yet has.
is_alive() {
  if [ "$has_proc" ]; then
    case $(facts_of "$1") in '' | Z*) return 1 ;; esac
  else
    kill -s 0 -- "$1"
  fi
}

groups= pipes=
while read -r kind number; do
  case $kind in
  group) groups="$groups $number" ;;
  # The leader was reaped. Where a process has its number, that belongs to somebody else by now.
  rest) is_alive "$number" || groups="$groups $number" ;;
  pipe) pipes="$pipes $number" ;;
  esac
done <&3

# What was just being started: we know no number of it, only a pipe that it has, or what it has
# started already.
if [ -n "$pipes" ]; then
  holders=$(ls -l /proc/[0-9]*/fd | while read -r line; do
    case $line in
    /proc/*/fd:) holder=${line#/proc/} holder=${holder%/fd:} ;;
    *) for pipe in $pipes; do
      case $line in *" pipe:[$pipe]") echo "$holder" ;; esac
    done ;;
    esac
  done)
  for holder in $holders; do
    set -- $(facts_of "$holder")
    groups="$groups $3"
  done
fi

signal() {
  for group in $groups; do kill -s "$1" -- "-$group"; done
}

# Those of the groups in which something runs.
groups_alive() {
  if [ "$has_proc" ]; then
    cat /proc/[0-9]*/stat | while read -r line; do
      set -- ${line##*) }
      [ "$1" = Z ] || printf '%s ' "$3"
    done
  else
    for group in $groups; do
      if kill -s 0 -- "-$group"; then printf '%s ' "$group"; fi
    done
  fi
}

signal TERM
signal CONT
tenths=0
while [ $tenths -lt 20 ]; do
  alive=$(groups_alive)
  left=
  for group in $groups; do
    case " $alive " in *" $group "*) left="$left $group" ;; esac
  done
  groups=$left
  [ -n "$groups" ] || exit 0
  if sleep 0.1; then tenths=$((tenths + 1)); else sleep 1; tenths=$((tenths + 10)); fi
done
signal KILL
exit 0
