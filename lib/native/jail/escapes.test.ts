import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { release, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ANSWER } from '../../base/seccomp-program.ts';
import { GUEST_CALLS_BY_NAME, guestFilter } from './guest-filter.ts';
import {
  callNumber,
  callsScript,
  EAFNOSUPPORT,
  ENOSYS,
  EPERM,
  elfOf32BitCall,
  errnosOf,
  only,
  perl,
} from './testing/attacks.ts';
import { JAIL_USER, jailStage, NO_JAIL, type StagedJail, saysWhyNot } from './testing/jail-stage.ts';

saysWhyNot('lib/native/jail/escapes.test.ts');
const stage = jailStage();
const SECRET = `secret-${Math.random()}`;

describe.runIf(NO_JAIL === null)('from inside a jail', () => {
  let staged: StagedJail;
  let bash: StagedJail['bash'];
  /** Outside: a folder with a secret. */
  let elsewhere: string;

  beforeAll(async () => {
    staged = await stage.open();
    bash = staged.bash;
    elsewhere = mkdtempSync(join(tmpdir(), 'winterdock-elsewhere-'));
    chmodSync(elsewhere, 0o777);
    writeFileSync(join(elsewhere, 'secret'), SECRET, { mode: 0o644 });
  });
  afterAll(() => {
    rmSync(elsewhere, { recursive: true, force: true });
  });

  test('a process has no capability, no way to a new one, a filter, and namespaces of its own of each kind', async () => {
    const { stdout } = await bash(
      'cat /proc/self/status; unshare -Ur true && echo unshared; unshare -n true && echo unshared',
    );
    for (const line of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
      expect(stdout).toMatch(new RegExp(`^${line}:\\s0+$`, 'm'));
    expect(stdout).toMatch(/^NoNewPrivs:\s1$/m);
    expect(stdout).toMatch(/^Seccomp:\s2$/m);
    expect(stdout).not.toContain('unshared');
    await bash('sleep 1000 & true');
    const inside = staged.jail.processes;
    for (const kind of ['user', 'pid', 'net', 'mnt', 'ipc', 'uts', 'cgroup'])
      expect(readlinkSync(`/proc/${inside.at(-1)}/ns/${kind}`)).not.toBe(readlinkSync(`/proc/self/ns/${kind}`));
    if (JAIL_USER !== null) {
      const status = readFileSync(`/proc/${inside.at(-1)}/status`, 'utf8');
      expect(status).toMatch(new RegExp(`^Uid:(?:\\s${JAIL_USER.uid}){4}$`, 'm'));
      expect(status).toMatch(new RegExp(`^Gid:(?:\\s${JAIL_USER.gid}){4}$`, 'm'));
      expect(status).toMatch(/^Groups:\s*$/m);
    }
  });

  test('every call that the filter refuses by name is refused, and one that a later kernel brings is not known', async () => {
    const common = Object.entries(GUEST_CALLS_BY_NAME)
      .filter(([, [x64, arm64]]) => x64 === arm64 && x64 >= 424)
      .map(([name]) => name);
    const handled = ['clone', 'socket', 'socketpair', 'mknod', 'mknodat', 'ioctl', 'personality'];
    const refused = Object.keys(GUEST_CALLS_BY_NAME).filter(
      (name) => !common.includes(name) && !handled.includes(name) && callNumber(name) >= 0,
    );
    expect(refused.length).toBeGreaterThan(40);
    expect(errnosOf(await bash(callsScript(refused.map((name) => [name, callNumber(name)] as const))))).toEqual(
      only(EPERM, refused),
    );
    const unknown = {
      clone3: 435,
      io_uring_setup: 425,
      io_uring_enter: 426,
      io_uring_register: 427,
      open_tree: 428,
      move_mount: 429,
      fsopen: 430,
      fsmount: 432,
      pidfd_getfd: 438,
      mount_setattr: 442,
      memfd_secret: 447,
      listmount: 458,
      open_tree_attr: 467,
      later: 600,
    };
    expect(errnosOf(await bash(callsScript(Object.entries(unknown))))).toEqual(only(ENOSYS, Object.keys(unknown)));
  });

  test('no flag of clone makes a namespace, and no other architecture and no other personality passes the filter by', async () => {
    const flags = {
      user: 0x1000_0000,
      pid: 0x2000_0000,
      net: 0x4000_0000,
      mount: 0x2_0000,
      uts: 0x400_0000,
      ipc: 0x800_0000,
      cgroup: 0x200_0000,
    };
    const calls = Object.entries(flags).map(([name, flag]) => [name, callNumber('clone'), flag + 17] as const);
    expect(errnosOf(await bash(callsScript(calls)))).toEqual(only(EPERM, Object.keys(flags)));
    expect(errnosOf(await bash(callsScript([['x', callNumber('personality'), 8]])))).toEqual({ x: String(EPERM) });
    if (process.arch !== 'x64') return;
    // getpid of the x32 ABI.
    expect(errnosOf(await bash(callsScript([['x', 0x4000_0000 + 39]])))).toEqual({ x: String(EPERM) });
    const ran = await bash('cat >elf; chmod +x elf; ./elf; echo $?', { stdin: elfOf32BitCall() });
    expect(ran.stdout).toBe(`${128 + 31}\n`);
  });

  test('a filter of 32 bits of a call sees them whatever stands above, and an unknown family of sockets is refused', async () => {
    const high = '0xdeadbeef00000000';
    const calls = [
      ['clone', callNumber('clone'), `${high} | 0x10000011`],
      ['socket', callNumber('socket'), `${high} | 40`, 1],
    ] as const;
    expect(errnosOf(await bash(callsScript(calls)))).toEqual({ clone: String(EPERM), socket: String(EAFNOSUPPORT) });
    expect(guestFilter('riscv64')).toBeNull();
    for (const architecture of ['x64', 'arm64'] as const) {
      const filter = guestFilter(architecture) ?? Buffer.alloc(0);
      expect([filter.length % 8, filter.length / 8 < 4096, filter.readUInt32LE(filter.length - 4)]).toEqual([
        0,
        true,
        ANSWER.allow,
      ]);
    }
  });

  test('nothing can be mounted, unmounted or entered, and no folder becomes the root', async () => {
    const ran =
      await bash(`mkdir -p inner; mount -t tmpfs x inner && echo mounted; mount --bind /usr inner && echo mounted; umount /workspace && echo unmounted
      umount -l /proc && echo unmounted; chroot . /bin/true && echo chrooted; nsenter -t 1 -m true && echo entered; mount -o remount,rw / && echo remounted; wc -l </proc/self/mountinfo`);
    const before = (await bash('wc -l </proc/self/mountinfo')).stdout;
    expect(ran.stdout).toBe(before);
  });

  test('of the root nothing can be changed, and of the machine’s settings nothing is there or writable', async () => {
    const places = [
      '/',
      '/usr',
      '/usr/bin',
      '/usr/lib',
      '/etc',
      '/run',
      '/var',
      '/dev',
      '/dev/pts',
      '/proc',
      '/proc/sys/kernel',
      '/bin',
      '/lib',
      '/home',
      '/root',
      '/sys',
      '/opt',
    ];
    const tries = places.map((place) => `(: >${place}/winterdock) 2>/dev/null && echo made ${place}`).join('; ');
    const files = [
      '/proc/sys/kernel/core_pattern',
      '/proc/sys/kernel/hostname',
      '/proc/sysrq-trigger',
      '/proc/sys/vm/drop_caches',
      '/etc/passwd',
      '/run/init',
      '/usr/bin/env',
    ];
    const writes = files.map((file) => `(echo x >${file}) 2>/dev/null && echo wrote ${file}`).join('; ');
    const others = `ls -A /sys 2>/dev/null; chmod 777 /etc && echo changed; mv /usr/bin/env /usr/bin/vne 2>/dev/null && echo moved; rm -rf /run/init 2>/dev/null && echo removed`;
    expect((await bash(`${tries}; ${writes}; ${others}; true`)).stdout).toBe('');
    for (const name of ['workspace', 'memory', 'tmp'])
      expect((await bash(`: >/${name}/own && echo made`)).stdout).toBe('made\n');
  });

  test('nothing tells where it is: no file, process, name, variable or argument of the machine outside', async () => {
    const tried = await bash(
      ['', '/proc/1/root', '/proc/1/cwd', '/proc/self/root/../..', '/proc/$PPID/root']
        .map((place) => `cat ${place}${elsewhere}/secret`)
        .join('; '),
    );
    expect(tried.stdout).toBe('');
    const found = await bash(`cat /proc/*/environ /proc/*/cmdline /proc/*/task/*/environ | tr '\\0' '\\n'; id
      cat /etc/passwd /etc/hosts /proc/self/cgroup`);
    expect((await bash('cat /proc/cmdline /proc/keys /proc/kallsyms; ls -A /home /root')).stdout).toBe('');
    expect(found.stdout).toContain('HOME=/workspace');
    for (const word of [SECRET, elsewhere, staged.outside, 'bwrap', 'setpriv'])
      expect(found.stdout).not.toContain(word);
    expect((await bash('tr "\\0" " " </proc/1/cmdline; cat /proc/1/comm; hostname')).stdout).toBe(
      '/usr/bin/perl /run/init perl\nsandbox\n',
    );
    expect((await bash('cut -d: -f3 /proc/self/cgroup | sort -u')).stdout).toBe('/\n');
    expect((await bash('cat /proc/1/environ; ls /proc/1/fd; cat /proc/1/maps; : </proc/1/mem')).stdout).toBe('');
    // The processes of the machine: its own first one, and what this command is.
    expect((await bash('echo /proc/[0-9]*')).stdout.trim().split(' ').length).toBeLessThan(8);
  });

  test('what it does see of the machine is its kernel, its memory, its load, and where its folders lie on their disk', async () => {
    const seen = await bash(
      'uname -r; grep -c MemTotal /proc/meminfo; wc -w </proc/loadavg; nproc; cat /proc/self/mountinfo',
    );
    const [kernel, memory, load, processors] = seen.stdout.split('\n');
    expect([kernel, memory, load, Number(processors) > 0]).toEqual([release(), '1', '5', true]);
    expect(seen.stdout).toContain(`${basename(staged.outside)}/workspace /workspace `);
  });

  test('of the server a command has three streams and nothing else', async () => {
    expect(
      (await bash('ls /proc/self/fd')).stdout
        .trim()
        .split('\n')
        .filter((name) => Number(name) > 3),
    ).toEqual([]);
    expect(
      (await bash('readlink /proc/$$/fd/*')).stdout
        .trim()
        .split('\n')
        .filter((name) => !/^pipe:\[\d+\]$/.test(name)),
    ).toEqual([]);
  });

  test('shared memory, queues and keys of others are not seen', async () => {
    expect(
      (
        await bash(
          'tail -qn +2 /proc/sysvipc/shm /proc/sysvipc/msg /proc/sysvipc/sem; ls -A /dev/shm /dev/mqueue 2>/dev/null | grep -v :',
        )
      ).stdout.trim(),
    ).toBe('');
    expect(
      errnosOf(
        await bash(
          callsScript([
            ['add', callNumber('add_key'), '"user"', '"winterdock"', '"x"', 1, -3],
            ['session', callNumber('keyctl'), 1, 0],
          ]),
        ),
      ),
    ).toEqual(only(EPERM, ['add', 'session']));
  });

  test('no program gets another user by its owner or by a file’s bits, and no device can be made or opened', async () => {
    const ran =
      await bash(`cp /usr/bin/id own; chmod 6755 own; ./own -u; ./own -un; for tool in su mount newgrp passwd; do which $tool >/dev/null && $tool --version >/dev/null 2>&1; done
      grep -v nosuid /proc/self/mountinfo | wc -l; grep -c Uid: /proc/self/status`);
    expect(ran.stdout).toBe('1000\nuser\n0\n1\n');
    const S_IFCHR = 0x2000;
    const S_IFBLK = 0x6000;
    const AT_FDCWD = -100;
    const devices = [
      ['mem', S_IFCHR, 0x101],
      ['disk', S_IFBLK, 0x800],
      ['fuse', S_IFCHR, 0xae5],
    ] as const;
    const calls = devices.map(
      ([name, kind, number]) => [name, callNumber('mknodat'), AT_FDCWD, `"${name}"`, kind + 0o666, number] as const,
    );
    expect(errnosOf(await bash(callsScript(calls)))).toEqual(
      only(
        EPERM,
        devices.map(([name]) => name),
      ),
    );
    expect(
      (await bash('mkfifo pipe && test -p pipe && echo a pipe; ls /dev')).stdout.split('\n').filter(Boolean).toSorted(),
    ).toEqual([
      'a pipe',
      'core',
      'fd',
      'full',
      'null',
      'ptmx',
      'pts',
      'random',
      'shm',
      'stderr',
      'stdin',
      'stdout',
      'tty',
      'urandom',
      'zero',
    ]);
    // What lies outside in its folder belongs to nobody of the machine.
    const uid = JAIL_USER?.uid ?? process.getuid?.();
    const workspace = join(staged.outside, 'workspace');
    for (const name of readdirSync(workspace))
      expect([name, lstatSync(join(workspace, name)).uid]).toEqual([name, uid]);
  });

  test('a device that was put into its folder from outside cannot be opened', async () => {
    if (JAIL_USER === null) return;
    const made = spawn('mknod', [join(staged.outside, 'workspace', 'zero'), 'c', '1', '5']);
    await once(made, 'exit');
    chmodSync(join(staged.outside, 'workspace', 'zero'), 0o666);
    expect((await bash('head -c 1 zero | wc -c')).stdout).toBe('0\n');
  });

  test('nothing is typed into a terminal of somebody else, and none is there', async () => {
    const program = `my $r = open my $tty, "+<", "/dev/tty"; print "tty $r\\n" if $r; open my $p, "+<", "/dev/ptmx" or die $!;
      for my $request (0x5412, 0x541C, 0x5423) { my $byte = "x"; $! = 0; ioctl($p, $request, $byte); print $request, " ", $! + 0, "\\n" }`;
    expect((await bash(perl(program))).stdout).toBe(`${0x5412} ${EPERM}\n${0x541c} ${EPERM}\n${0x5423} ${EPERM}\n`);
  });
});
