/**
 * The last program before a worker's or a helper's own: closes what descriptors it has inherited, bounds what it may
 * take, and loads the filter of system calls where it can. Perl, which Debian and Ubuntu always have, makes the calls;
 * a shell does what it can where there is none. Knows nothing of the other walls.
 */
import { STATM_DESCRIPTOR } from '../../base/resident-memory.ts';
import { problemWithCommand } from './namespaces.ts';
import { type SeccompFilter, seccompFilter } from './seccomp-filter.ts';
import { toolPath } from './worker-root.ts';

/** The calls that the loader makes itself. */
const CALLS: Partial<
  Record<NodeJS.Architecture, Record<'close' | 'closeRange' | 'limit' | 'control' | 'filter', number>>
> = {
  x64: { close: 3, closeRange: 436, limit: 302, control: 157, filter: 317 },
  arm64: { close: 57, closeRange: 436, limit: 261, control: 167, filter: 277 },
};
const PR_SET_NO_NEW_PRIVS = 38;
/** Without it kernels before 5.16 slow down V8 with a protection that the filter does not need. */
const SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4;

/** Resources (asm-generic/resource.h), and of which size a shell's `ulimit` counts them. */
const LIMITS = {
  file: { resource: 1, flag: 'f', unit: 512 },
  core: { resource: 4, flag: 'c', unit: 512 },
  descriptors: { resource: 7, flag: 'n', unit: 1 },
} as const;
/** A worker has about thirty open. */
const MOST_DESCRIPTORS = 1024;
/** Digits of a descriptor that every shell can close: one. */
const LAST_OF_SHELL = 9;
/** The kernel's default for descriptors, which a loader without `close_range` goes through. */
const LAST_OF_LOOP = 4095;

export interface LoaderOptions {
  /** Null: none is loaded. */
  filter: SeccompFilter | null;
  /** Whether descriptor 4 is the worker's, of its own memory. */
  keepsStatm: boolean;
  /** Bytes of the largest file that it may write; null: no bound. */
  mostFileBytes: number | null;
}

/** Why no filter of system calls can be loaded here; null when one was. */
export async function loaderProblem(): Promise<string | null> {
  if (CALLS[process.arch] === undefined) return `there is no filter for ${process.arch}`;
  if (toolPath('perl') === null) return 'perl is not installed';
  return problemWithCommand(loaderCommand({ filter: seccompFilter(), keepsStatm: false, mostFileBytes: null }));
}

/** The command that runs what follows it, as the same process. Without perl there must be no filter. */
export function loaderCommand({ filter, keepsStatm, mostFileBytes }: LoaderOptions): string[] {
  const first = keepsStatm ? STATM_DESCRIPTOR + 1 : STATM_DESCRIPTOR;
  const limits: [keyof typeof LIMITS, number][] = [
    ['core', 0],
    ['descriptors', MOST_DESCRIPTORS],
    ...(mostFileBytes === null ? [] : [['file', mostFileBytes] as [keyof typeof LIMITS, number]]),
  ];
  const [perl, calls] = [toolPath('perl'), CALLS[process.arch]];
  if (perl === null || calls === undefined) {
    const closed = Array.from({ length: LAST_OF_SHELL - first + 1 }, (_, more) => `${first + more}<&-`).join(' ');
    // Where the limit is lower already it stays.
    const set = limits.map(
      ([name, most]) => `ulimit -${LIMITS[name].flag} ${Math.ceil(most / LIMITS[name].unit)} 2> /dev/null || :`,
    );
    return ['/bin/sh', '-c', [`exec ${closed}`, ...set, 'unset PWD', 'exec "$@"'].join('; '), 'sh'];
  }
  const program = [
    // A group of its own: what a terminal sends to the server's is not for it, and a paused one in it would have the
    // kernel hang up on the server when the shell that started it ends. No session: that would be a group of the
    // scheduler's.
    'setpgrp(0, 0)',
    `if (syscall(${calls.closeRange}, ${first}, 0xffffffff, 0) != 0) { syscall(${calls.close}, $_) for ${first}..${LAST_OF_LOOP} }`,
    // Never above what there is: only root could do that, and not in a namespace of its own.
    `for (${limits.map(([name, most]) => `[${LIMITS[name].resource}, ${most}]`).join(', ')}) {`,
    'my ($resource, $most) = @$_',
    'my $bounds = pack("QQ", 0, 0)',
    `syscall(${calls.limit}, 0, $resource, 0, $bounds) == 0 or die "limit $resource: $!\\n"`,
    'my (undef, $hard) = unpack("QQ", $bounds)',
    '$hard = $most if $hard > $most',
    '$bounds = pack("QQ", $hard, $hard)',
    `syscall(${calls.limit}, 0, $resource, $bounds, 0) == 0 or die "limit $resource: $!\\n"`,
    '}',
    ...(filter === null ? [] : filterProgram(filter, calls)),
    'exec { $ARGV[0] } @ARGV or die "$ARGV[0]: $!\\n"',
  ].join(';\n');
  return [perl, '-e', program, '--', ...(filter === null ? [] : [filter.code])];
}

/** Loads the filter, which is the first argument, with the process's own id in its place. */
function filterProgram({ ownPidAt }: SeccompFilter, calls: { control: number; filter: number }): string[] {
  return [
    'my $code = pack("H*", shift)',
    `substr($code, ${ownPidAt}, 4) = pack('L', $$)`,
    'my $program = pack("S x![P] P", length($code) / 8, $code)',
    `syscall(${calls.control}, ${PR_SET_NO_NEW_PRIVS}, 1, 0, 0, 0) == 0 or die "no_new_privs: $!\\n"`,
    `syscall(${calls.filter}, 1, ${SECCOMP_FILTER_FLAG_SPEC_ALLOW}, $program) == 0 or syscall(${calls.filter}, 1, 0, $program) == 0 or die "seccomp: $!\\n"`,
  ];
}
