/**
 * For tests: who opens which file of a filesystem. The kernel asks before each open (fanotify) and waits until the
 * process that opens was looked at, so that nothing is missed. Needs an administrator, and a kernel that asks.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** One process that opened a file. */
export interface Opening {
  path: string;
  pid: number;
  /** What the process was started as. */
  program: string;
  uid: number;
  gid: number;
  /** Effective capabilities, as a number. */
  capabilities: bigint;
  /** It has a namespace of its own: of the network, of the file system, of processes. */
  net: boolean;
  files: boolean;
  pids: boolean;
  /** A filter of system calls stands around it. */
  isFiltered: boolean;
}

/**
 * fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY | O_LARGEFILE), then a mark of FAN_OPEN_PERM on the whole
 * filesystem. An event is 24 bytes: length, version, reserved, length of the header, mask, descriptor, process. The
 * answer is FAN_ALLOW.
 */
const SCRIPT = String.raw`
use strict; use IO::Handle; $| = 1;
my $group = syscall(300, 0x5, 0100000);
die "fanotify_init: $!\n" if $group < 0;
my $folder = $ARGV[0];
die "fanotify_mark: $!\n" if syscall(301, $group, 0x101, 0x10000, -100, $folder) < 0;
open(my $events, "+<&=", $group) or die;
open(my $list, ">", $ARGV[1] // "/dev/null") or die; $list->autoflush(1);
print "ready\n";
while (sysread($events, my $batch, 4096)) {
  while (length $batch >= 24) {
    my ($length, undef, undef, undef, $mask, $fd, $pid) = unpack("L C C S Q l l", $batch);
    $batch = substr $batch, $length;
    my $path = readlink "/proc/self/fd/$fd";
    open(my $file, "<", "/proc/$pid/status"); my $status = join "", <$file>; close $file;
    open($file, "<", "/proc/$pid/cmdline"); my $program = join "", <$file>; close $file; $program =~ tr/\0\n\t/   /;
    my ($uid) = $status =~ /^Uid:\s+\d+\s+(\d+)/m; my ($gid) = $status =~ /^Gid:\s+\d+\s+(\d+)/m;
    my ($caps) = $status =~ /^CapEff:\s+(\w+)/m;
    my @apart = map { (readlink "/proc/$pid/ns/$_") ne (readlink "/proc/self/ns/$_") ? 1 : 0 } qw(net mnt pid);
    push @apart, $status =~ /^Seccomp:\s+2/m ? 1 : 0;
    print $list join("\t", $pid, $uid, $gid, $caps, @apart, $path, $program), "\n";
    syswrite $events, pack("l L", $fd, 1);
    require POSIX; POSIX::close($fd);
  }
}`;

/** Why no open can be watched on this machine; null when it can. */
export function whyNotWatched(folder: string): string | null {
  const { status, stderr, error } = spawnSync(
    'perl',
    ['-e', SCRIPT.replace('while (sysread', 'exit; while (sysread'), folder],
    {
      encoding: 'utf8',
    },
  );
  return status === 0 ? null : String(stderr ?? error).trim();
}

export class OpenedFiles {
  readonly #child: ChildProcess;
  readonly #list: string;

  private constructor(child: ChildProcess, list: string) {
    this.#child = child;
    this.#list = list;
  }

  /** Watches the filesystem on which a folder lies. Nothing else should be on it. */
  static async watch(folder: string): Promise<OpenedFiles> {
    // A file, not a pipe: a thread that waits for its own open reads none, and a full one would stop the watch.
    const list = join(mkdtempSync(join(tmpdir(), 'winterdock-opened-')), 'list');
    const child = spawn('perl', ['-e', SCRIPT, folder, list], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    return new OpenedFiles(child, list);
  }

  /** All until now. */
  seen(): Opening[] {
    const lines = readFileSync(this.#list, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => {
      const [pid, uid, gid, caps, net, files, pids, filtered, path = '', program = ''] = line.split('\t');
      return {
        ...{ path, program, pid: Number(pid), uid: Number(uid), gid: Number(gid) },
        ...{ capabilities: BigInt(`0x${caps || '0'}`), net: net === '1', files: files === '1' },
        ...{ pids: pids === '1', isFiltered: filtered === '1' },
      };
    });
  }

  async stop(): Promise<void> {
    const gone = once(this.#child, 'close');
    this.#child.kill('SIGKILL');
    await gone;
    rmSync(dirname(this.#list), { recursive: true });
  }
}
