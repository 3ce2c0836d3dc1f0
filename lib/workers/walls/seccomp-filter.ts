/**
 * The filter of system calls around a worker, as the bytes that the kernel takes (classic BPF). It knows what a process
 * of ours needs: threads, files that it opens by name, and the channel that it has. Knows nothing of who loads it.
 */

import { ANSWER, type CallNumbers, SeccompProgram } from '../../base/seccomp-program.ts';

/** What no worker does. Grouped by what it would be good for. */
const REFUSED: Record<string, CallNumbers> = {
  // Mounts and roots.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  // Namespaces.
  unshare: [272, 97],
  setns: [308, 268],
  // Other processes: of the calls that signal, `tgkill` is left, to the process itself.
  fork: [57, -1],
  vfork: [58, -1],
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  kill: [62, 129],
  tkill: [200, 130],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  // Sockets: the channel is there already.
  socket: [41, 198],
  socketpair: [53, 199],
  bind: [49, 200],
  listen: [50, 201],
  accept: [43, 202],
  accept4: [288, 242],
  connect: [42, 203],
  // Shared memory, semaphores and queues.
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  semget: [64, 190],
  semop: [65, 193],
  semctl: [66, 191],
  semtimedop: [220, 192],
  msgget: [68, 186],
  msgsnd: [69, 189],
  msgrcv: [70, 188],
  msgctl: [71, 187],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  // Files that are no files, other names of files, and files by no name.
  mknod: [133, -1],
  mknodat: [259, 33],
  symlink: [88, -1],
  symlinkat: [266, 36],
  link: [86, -1],
  linkat: [265, 37],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  memfd_create: [319, 279],
  fanotify_init: [300, 262],
  quotactl: [179, 60],
  // Seldom used parts of the kernel, where its faults are.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  splice: [275, 76],
  tee: [276, 77],
  vmsplice: [278, 75],
  remap_file_pages: [216, 234],
  personality: [135, 92],
  modify_ldt: [154, -1],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  uselib: [134, -1],
  ustat: [136, -1],
  sysfs: [139, -1],
  _sysctl: [156, -1],
  vhangup: [153, 58],
  // The machine.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, -1],
  ioperm: [173, -1],
};

/**
 * What a worker may use of the calls that both have under one number. Any other is answered as by a kernel that does
 * not know it, as C libraries expect; so is one that a later kernel brings. Left out on purpose: io_uring, clone3 whose
 * flags no filter sees, pidfds, the new calls for mounts, secret memory.
 */
const ALLOWED_COMMON: Record<string, number> = {
  close_range: 436,
  openat2: 437,
  faccessat2: 439,
  epoll_pwait2: 441,
  landlock_create_ruleset: 444,
  landlock_add_rule: 445,
  landlock_restrict_self: 446,
  futex_waitv: 449,
  cachestat: 451,
  fchmodat2: 452,
  map_shadow_stack: 453,
  futex_wake: 454,
  futex_wait: 455,
  futex_requeue: 456,
  mseal: 462,
};

const CLONE: CallNumbers = [56, 220];
const TGKILL: CallNumbers = [234, 131];
const IOCTL: CallNumbers = [16, 29];
const FCNTL: CallNumbers = [72, 25];
const PRLIMIT: CallNumbers = [302, 261];

/** All calls that the filter names, with their numbers. */
export const CALLS_BY_NAME: Readonly<Record<string, CallNumbers>> = {
  ...REFUSED,
  ...Object.fromEntries(
    Object.entries(ALLOWED_COMMON).map(([name, number]): [string, CallNumbers] => [name, [number, number]]),
  ),
  clone: CLONE,
  tgkill: TGKILL,
  ioctl: IOCTL,
  fcntl: FCNTL,
  prlimit64: PRLIMIT,
};

/** Flags of `clone`: threads have the first, new namespaces one of the others. */
const CLONE_THREAD = 0x1_0000;
const CLONE_NEW_ANY = 0x7e02_0000;
/** Requests of `ioctl` that type into a terminal, and that say whom the kernel signals for a file. */
const REFUSED_REQUESTS = [0x5412, 0x541c, 0x8901, 0x8902];
/** Commands of `fcntl` by which the kernel signals another process for a file, or has it wait to open one. */
const REFUSED_COMMANDS = [8, 10, 15, 1024, 1026];
export interface SeccompFilter {
  /** The program, as hexadecimal digits. */
  readonly code: string;
  /** Where in its bytes the process id belongs to which alone the process may send signals: 32 bits, its own order. */
  readonly ownPidAt: number;
}

/** The filter for processes of an architecture; null where there is none for it. */
export function seccompFilter(architecture: NodeJS.Architecture = process.arch): SeccompFilter | null {
  const program = SeccompProgram.begin(architecture);
  if (program === null) return null;
  program.allowCommon(Object.values(ALLOWED_COMMON));
  for (const numbers of Object.values(REFUSED)) program.answerCall(numbers, ANSWER.eperm);
  program.ofCall(CLONE, (part) => {
    part.loadArgument(0);
    part.whenAnyBit(CLONE_NEW_ANY, ANSWER.eperm);
    part.unlessAnyBit(CLONE_THREAD, ANSWER.eperm);
    part.answer(ANSWER.allow);
  });
  let ownPidAt = 0;
  program.ofCall(TGKILL, (part) => {
    part.loadArgument(0);
    ownPidAt = part.whenEqual(0, ANSWER.allow);
    part.answer(ANSWER.eperm);
  });
  // Its own limits, and nobody else's.
  program.ofCall(PRLIMIT, (part) => {
    part.loadArgument(0);
    part.whenEqual(0, ANSWER.allow);
    part.answer(ANSWER.eperm);
  });
  for (const [numbers, refused] of [
    [FCNTL, REFUSED_COMMANDS],
    [IOCTL, REFUSED_REQUESTS],
  ] as const) {
    program.ofCall(numbers, (part) => {
      part.loadArgument(1);
      for (const one of refused) part.whenEqual(one, ANSWER.eperm);
      part.answer(ANSWER.allow);
    });
  }
  program.answer(ANSWER.allow);
  return { code: program.bytes().toString('hex'), ownPidAt };
}
