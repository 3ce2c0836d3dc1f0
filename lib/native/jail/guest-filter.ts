/**
 * The filter of system calls around real programs of a guest. They fork, open sockets and make files of every kind, so
 * it refuses by name what leads out of a jail, and the seldom used parts of the kernel, where its faults are. Knows
 * nothing of who loads it.
 */
import { ANSWER, type CallNumbers, SeccompProgram } from '../../base/seccomp-program.ts';

/** What no guest does. Grouped by what it would be good for. */
const REFUSED: Record<string, CallNumbers> = {
  // Mounts and roots.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  // Namespaces.
  unshare: [272, 97],
  setns: [308, 268],
  // Memory and descriptors of other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  // Files by no name, and eyes on other people's files.
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  quotactl: [179, 60],
  // Keys: a keyring of the kernel is outside of every namespace but that of users.
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  // Seldom used parts of the kernel, where its faults are.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  remap_file_pages: [216, 234],
  vmsplice: [278, 75],
  mbind: [237, 235],
  set_mempolicy: [238, 237],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
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
 * What a guest may use of the calls that both have under one number. Any other is answered as by a kernel that does not
 * know it, as C libraries and Node expect; so is one that a later kernel brings. Left out on purpose: io_uring, clone3
 * whose flags no filter sees, pidfd_getfd, the new calls for mounts, secret memory.
 */
const ALLOWED_COMMON: Record<string, number> = {
  pidfd_send_signal: 424,
  pidfd_open: 434,
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
  setxattrat: 463,
  getxattrat: 464,
  listxattrat: 465,
  removexattrat: 466,
};

const CLONE: CallNumbers = [56, 220];
const SOCKET: CallNumbers = [41, 198];
const SOCKETPAIR: CallNumbers = [53, 199];
const MKNOD: CallNumbers = [133, -1];
const MKNODAT: CallNumbers = [259, 33];
const IOCTL: CallNumbers = [16, 29];
const PERSONALITY: CallNumbers = [135, 92];

/** All calls that the filter names, with their numbers. */
export const GUEST_CALLS_BY_NAME: Readonly<Record<string, CallNumbers>> = {
  ...REFUSED,
  ...Object.fromEntries(
    Object.entries(ALLOWED_COMMON).map(([name, number]): [string, CallNumbers] => [name, [number, number]]),
  ),
  clone: CLONE,
  socket: SOCKET,
  socketpair: SOCKETPAIR,
  mknod: MKNOD,
  mknodat: MKNODAT,
  ioctl: IOCTL,
  personality: PERSONALITY,
};

/** Flags of `clone` that make a namespace. */
const CLONE_NEW_ANY = 0x7e02_0000;
/** Families of sockets: a namespace of networks does not hold AF_VSOCK, which reaches the machine around a VM. */
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
/** The type is in the lower bits; flags are above. */
const SOCKET_TYPE = 0xf;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
/** Of the internet: what the type says, TCP, UDP. Of netlink: addresses and routes, which `getifaddrs` asks for. */
const INET_PROTOCOLS = [0, 6, 17];
const NETLINK_ROUTE = 0;
/** Kinds of files of `mknod` that are devices. */
const FILE_KIND = 0xf000;
const DEVICES = [0x2000, 0x6000];
/** Requests of `ioctl` that type into a terminal, and that load a line discipline for one. */
const REFUSED_REQUESTS = [0x5412, 0x541c, 0x5423];
/** Linux as it is, and the question what it is now. */
const PERSONALITIES = [0, 0xffff_ffff];

/** The filter for guests of an architecture, as bytes; null where there is none for it. */
export function guestFilter(architecture: NodeJS.Architecture = process.arch): Buffer | null {
  const program = SeccompProgram.begin(architecture);
  if (program === null) return null;
  program.allowCommon(Object.values(ALLOWED_COMMON));
  for (const numbers of Object.values(REFUSED)) program.answerCall(numbers, ANSWER.eperm);
  program.ofCall(CLONE, (part) => {
    part.loadArgument(0);
    part.whenAnyBit(CLONE_NEW_ANY, ANSWER.eperm);
    part.answer(ANSWER.allow);
  });
  for (const call of [SOCKET, SOCKETPAIR]) {
    program.ofCall(call, (part) => {
      part.loadArgument(0);
      part.whenEqual(AF_UNIX, ANSWER.allow);
      for (const family of [AF_INET, AF_INET6]) {
        part.ofValue(family, (internet) => {
          internet.loadArgument(2);
          for (const protocol of INET_PROTOCOLS) {
            internet.ofValue(protocol, (known) => {
              known.loadArgument(1, SOCKET_TYPE);
              for (const type of [SOCK_STREAM, SOCK_DGRAM]) known.whenEqual(type, ANSWER.allow);
              known.answer(ANSWER.eperm);
            });
          }
          internet.answer(ANSWER.eperm);
        });
      }
      part.ofValue(AF_NETLINK, (netlink) => {
        netlink.loadArgument(2);
        netlink.whenEqual(NETLINK_ROUTE, ANSWER.allow);
        netlink.answer(ANSWER.eafnosupport);
      });
      part.answer(ANSWER.eafnosupport);
    });
  }
  for (const [call, mode] of [
    [MKNOD, 1],
    [MKNODAT, 2],
  ] as const) {
    program.ofCall(call, (part) => {
      part.loadArgument(mode, FILE_KIND);
      for (const device of DEVICES) part.whenEqual(device, ANSWER.eperm);
      part.answer(ANSWER.allow);
    });
  }
  program.ofCall(IOCTL, (part) => {
    part.loadArgument(1);
    for (const request of REFUSED_REQUESTS) part.whenEqual(request, ANSWER.eperm);
    part.answer(ANSWER.allow);
  });
  program.ofCall(PERSONALITY, (part) => {
    part.loadArgument(0);
    for (const one of PERSONALITIES) part.whenEqual(one, ANSWER.allow);
    part.answer(ANSWER.eperm);
  });
  program.answer(ANSWER.allow);
  return program.bytes();
}
