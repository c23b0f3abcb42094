# Runs a program until it ends or the standard input does, and removes the folder: `sh -c … NAME FOLDER SETTING… PROGRAM`.
# Whoever holds the other end of the input may drop it or die by any signal; the program and what it started end with it.
folder=$1
shift
# A session of its own: all of it is ended at once, and a terminal's interrupt does not reach it first.
setsid env -i PATH="$PATH" HOME="$folder" TMPDIR="$folder" "$@" </dev/null &
program=$!
# A shell gives what it puts into the background no input, unless it is told to.
exec 3<&0
{
  cat <&3 >/dev/null
  # Before `setsid` has run there is no such session yet.
  kill -s KILL -- "-$program" || kill -KILL "$program"
} &
watch=$!
wait "$program"
code=$?
kill "$watch" 2>/dev/null
# What the program started may outlive it, and what is still there may write into the folder.
kill -s KILL -- "-$program" 2>/dev/null
rm -rf "$folder" || rm -rf "$folder"
exit "$code"
