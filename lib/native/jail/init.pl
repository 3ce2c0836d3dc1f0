# The first process of a jail. It begins commands that come as frames over its input, gives them their input, sends on
# what they print, and says how they ended. A frame is one byte of kind, the number of the run and the length of what
# follows, 32 bits each, big-endian. It needs nothing but what perl-base has. Its input ends with the server: then it
# ends, and with it everything in the jail.
use strict;
use warnings;
use POSIX ();

# Kinds of frames that come, and that go.
use constant { START => 1, INPUT => 2, INPUT_END => 3, MORE_OUTPUT => 4, SIGNAL => 5 };
use constant { READY => 1, OUTPUT => 2, ERRORS => 3, EXITED => 4, FAILED => 5, MORE_INPUT => 6, STARTED => 7 };
# What of each stream may be on its way unread.
use constant WINDOW => 262144;
use constant CHUNK => 65536;
# Output that waits for the server: no more is read from commands beyond it.
use constant MOST_WAITING => 1048576;
use constant { EINTR => 4, EAGAIN => 11, FIONREAD => 0x541B };
use constant { F_GETFL => 3, F_SETFL => 4, O_NONBLOCK => 2048 };

sub nonblocking {
  for my $handle (@_) { fcntl($handle, F_SETFL, fcntl($handle, F_GETFL, 0) | O_NONBLOCK) }
}

# No other process of the jail may look into this one: its memory, its descriptors.
my $machine = (POSIX::uname())[4];
syscall($machine eq 'aarch64' ? 167 : 157, 4, 0, 0, 0, 0);

# Nothing of whoever began this process is open but its three streams.
if (opendir my $open, '/proc/self/fd') {
  my @inherited = grep { /^\d+$/ && $_ > 2 } readdir $open;
  closedir $open;
  POSIX::close($_) for @inherited;
}

# A guest's files are as everywhere, whatever those of the server are.
umask 0022;

$SIG{$_} = 'IGNORE' for qw(PIPE HUP INT TERM QUIT USR1 USR2);
pipe(my $woken, my $wake) or die "pipe: $!";
nonblocking($woken, $wake, \*STDIN, \*STDOUT);
$SIG{CHLD} = sub { syswrite $wake, 'x' };
binmode STDIN;
binmode STDOUT;

my %runs;          # by number
my %run_of;        # by process id
my @left_behind;   # streams that a background process still holds
my ($in, $out, $sent) = ('', '', 0);

sub frame {
  my ($kind, $run, $payload) = @_;
  $out .= pack('CNN', $kind, $run, length $payload) . $payload;
}

sub failed {
  my ($number, $step, $error) = @_;
  frame(FAILED, $number, pack('Cn', $step, $error));
}

# In the child: nothing that goes wrong here may return.
sub become {
  my ($request, $streams, $failure) = @_;
  my ($cwd, $count, @texts) = @$request;
  $SIG{$_} = 'DEFAULT' for qw(PIPE HUP INT TERM QUIT USR1 USR2 CHLD);
  POSIX::setsid();
  POSIX::dup2(fileno($streams->[$_]), $_) for 0 .. 2;
  my $give_up = sub { syswrite $failure, pack('Cn', $_[0], $! + 0); POSIX::_exit(127) };
  chdir $cwd or $give_up->(1);
  my @argv = splice @texts, 0, $count;
  %ENV = ();
  for (@texts) { $ENV{$1} = $2 if /\A([^=]+)=(.*)\z/s }
  { no warnings 'exec'; exec { $argv[0] } @argv; }
  $give_up->(2);
}

sub start {
  my ($number, $payload) = @_;
  my @request = unpack '(N/a*)*', $payload;
  my (@theirs, @ours);
  for my $stream (0 .. 3) {
    my ($read, $write);
    if (!pipe $read, $write) { failed($number, 0, $! + 0); return }
    ($theirs[$stream], $ours[$stream]) = $stream == 0 ? ($read, $write) : ($write, $read);
  }
  my $pid = fork;
  if (!defined $pid) { failed($number, 0, $! + 0); return }
  if ($pid == 0) { become(\@request, \@theirs, $theirs[3]) }
  nonblocking(@ours);
  $runs{$number} = {
    number => $number, pid => $pid, input => $ours[0], waiting => '', ends => 0, failure => $ours[3],
    streams => { 1 => $ours[1], 2 => $ours[2] }, credit => { 1 => WINDOW, 2 => WINDOW }, left => undef, status => undef,
  };
  $run_of{$pid} = $runs{$number};
  frame(STARTED, $number, pack('N', $pid));
}

# Sends on what a stream has, within what may be on its way. False when it has no more for now.
sub send_on {
  my ($run, $stream) = @_;
  my $most = $run->{credit}{$stream};
  $most = CHUNK if $most > CHUNK;
  $most = $run->{left}{$stream} if $run->{left} && $run->{left}{$stream} < $most;
  return 0 if $most <= 0;
  my $bytes;
  my $got = sysread $run->{streams}{$stream}, $bytes, $most;
  if (!defined $got) {
    $run->{left}{$stream} = 0 if $run->{left} && $! != EINTR;
    return 0;
  }
  if ($got == 0) { delete $run->{streams}{$stream}; return 0 }
  $run->{credit}{$stream} -= $got;
  $run->{left}{$stream} -= $got if $run->{left};
  frame($stream == 1 ? OUTPUT : ERRORS, $run->{number}, $bytes);
  return 1;
}

sub give_input {
  my ($run) = @_;
  while (length $run->{waiting} && $run->{input}) {
    my $given = syswrite $run->{input}, $run->{waiting};
    if (!defined $given) {
      return if $! == EAGAIN || $! == EINTR;
      # Nobody reads it any more: it goes nowhere, as into a pipe whose reader has ended.
      $given = length $run->{waiting};
      close delete $run->{input};
    }
    substr $run->{waiting}, 0, $given, '';
    frame(MORE_INPUT, $run->{number}, pack('N', $given));
  }
  close delete $run->{input} if $run->{ends} && $run->{input} && !length $run->{waiting};
}

# What a command had printed when it ended is sent on before its end is said; what still holds its streams then belongs
# to the background, and prints into nothing.
sub finish {
  my ($run) = @_;
  my $failure = '';
  sysread $run->{failure}, $failure, 3;
  if (length $failure == 3) { frame(FAILED, $run->{number}, $failure) }
  else { frame(EXITED, $run->{number}, pack('CC', $run->{status} >> 8, $run->{status} & 127)) }
  push @left_behind, values %{ $run->{streams} };
  delete $runs{ $run->{number} };
}

sub reap {
  while ((my $pid = waitpid -1, POSIX::WNOHANG()) > 0) {
    my $status = $?;
    my $run = delete $run_of{$pid} or next;
    $run->{status} = $status;
    $run->{left} = {};
    for my $stream (keys %{ $run->{streams} }) {
      my $ready = pack 'l', 0;
      ioctl $run->{streams}{$stream}, FIONREAD, $ready;
      $run->{left}{$stream} = unpack 'l', $ready;
    }
  }
}

sub take {
  my ($kind, $number, $payload) = @_;
  return start($number, $payload) if $kind == START;
  # Of a run that has ended meanwhile.
  my $run = $runs{$number} or return;
  if ($kind == INPUT) {
    if ($run->{input}) { $run->{waiting} .= $payload }
    else { frame(MORE_INPUT, $number, pack('N', length $payload)) }
  } elsif ($kind == INPUT_END) {
    $run->{ends} = 1;
  } elsif ($kind == MORE_OUTPUT) {
    my ($stream, $more) = unpack 'CN', $payload;
    $run->{credit}{$stream} += $more;
  } elsif ($kind == SIGNAL) {
    # Its group is its session's first, unless it has ended.
    kill unpack('C', $payload), -$run->{pid} if !defined $run->{status};
  }
}

frame(READY, 0, '');
for (;;) {
  for my $run (my @begun = values %runs) {
    give_input($run);
    next if !defined $run->{status};
    for my $stream (keys %{ $run->{streams} }) { 1 while length($out) - $sent < MOST_WAITING && send_on($run, $stream) }
    finish($run) if !grep { $run->{left}{$_} > 0 } keys %{ $run->{streams} };
  }
  my ($reads, $writes) = ('', '');
  vec($reads, $_, 1) = 1 for 0, fileno $woken;
  vec($writes, 1, 1) = 1 if $sent < length $out;
  my %readers;
  for my $run (values %runs) {
    vec($writes, fileno $run->{input}, 1) = 1 if length $run->{waiting} && $run->{input};
    next if defined $run->{status} || length($out) - $sent >= MOST_WAITING;
    for my $stream (grep { $run->{credit}{$_} > 0 } keys %{ $run->{streams} }) {
      my $number = fileno $run->{streams}{$stream};
      $readers{$number} = [$run, $stream];
      vec($reads, $number, 1) = 1;
    }
  }
  vec($reads, fileno $_, 1) = 1 for @left_behind;
  next if select($reads, $writes, undef, undef) < 0;
  if (vec($writes, 1, 1)) {
    my $written = syswrite STDOUT, $out, length($out) - $sent, $sent;
    if (defined $written) {
      $sent += $written;
      ($out, $sent) = ('', 0) if $sent == length $out;
    } elsif ($! != EAGAIN && $! != EINTR) {
      exit 0;
    }
    if ($sent > MOST_WAITING) { substr $out, 0, $sent, ''; $sent = 0 }
  }
  for my $number (keys %readers) { send_on(@{ $readers{$number} }) if vec($reads, $number, 1) }
  if (@left_behind) {
    @left_behind = grep {
      my $dropped;
      my $got = vec($reads, fileno $_, 1) ? sysread($_, $dropped, CHUNK) : 1;
      !defined $got ? $! == EAGAIN || $! == EINTR : $got;
    } @left_behind;
  }
  if (vec($reads, fileno $woken, 1)) {
    my $signals;
    1 while sysread $woken, $signals, 4096;
    reap();
  }
  next if !vec($reads, 0, 1);
  my $got = sysread STDIN, $in, CHUNK, length $in;
  exit 0 if defined $got ? $got == 0 : $! != EAGAIN && $! != EINTR;
  while (length $in >= 9) {
    my ($kind, $number, $length) = unpack 'CNN', $in;
    last if length $in < 9 + $length;
    my $payload = substr $in, 9, $length;
    substr $in, 0, 9 + $length, '';
    take($kind, $number, $payload);
  }
}
