import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GUEST_CALLS_BY_NAME, guestFilter } from './guest-filter.ts';

/** Headers of the kernel, where they are installed: of x86-64, and the generic ones that arm64 has. */
const HEADERS = ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm-generic/unistd.h'];

test.runIf(HEADERS.every(existsSync))(
  'the calls of the guests’ filter have the numbers of the kernel’s headers',
  () => {
    const tables = HEADERS.map((file) => {
      const lines = readFileSync(file, 'utf8').matchAll(/^#define\s+(?:__NR|__NR3264)_(\w+)\s+(\d+)/gm);
      return new Map([...lines].map(([, name = '', number]): [string, number] => [name, Number(number)]));
    });
    // Calls that are newer than the headers are in none of them.
    const known = Object.entries(GUEST_CALLS_BY_NAME).filter(([name]) => tables.some((table) => table.has(name)));
    expect(known.length).toBeGreaterThan(60);
    expect(Object.fromEntries(known)).toEqual(
      Object.fromEntries(known.map(([name]) => [name, tables.map((table) => table.get(name) ?? -1)])),
    );
  },
);

/** Runs a filter as the kernel does: the answer to a call of this architecture with these arguments. */
function answerOf(filter: Buffer, architecture: number, number: number, args: readonly number[]): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [at, value] of args.entries()) data.writeUInt32LE(value >>> 0, 16 + at * 8);
  let loaded = 0;
  for (let at = 0; at * 8 < filter.length; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const value = filter.readUInt32LE(at * 8 + 4);
    if (code === 0x06) return value;
    if (code === 0x20) loaded = data.readUInt32LE(value);
    else if (code === 0x54) loaded = (loaded & value) >>> 0;
    else {
      const holds = code === 0x15 ? loaded === value : code === 0x35 ? loaded >= value : (loaded & value) !== 0;
      at += filter.readUInt8(at * 8 + (holds ? 2 : 3));
    }
  }
  throw new Error('The filter ends without an answer.');
}

test.each([
  ['x64', 0xc000_003e, 0],
  ['arm64', 0xc000_00b7, 1],
] as const)(
  'on %s what programs need is allowed, and what leads out is not, by every argument that matters',
  (architecture, audit, at) => {
    const filter = guestFilter(architecture) ?? Buffer.alloc(0);
    const [allow, eperm, enosys, unknownFamily] = [0x7fff_0000, 0x0005_0001, 0x0005_0026, 0x0005_0061];
    const numberOf = (name: string) => GUEST_CALLS_BY_NAME[name]?.[at] ?? -1;
    const answer = (name: string, ...args: number[]) => answerOf(filter, audit, numberOf(name), args);
    // Another architecture ends the process.
    expect(answerOf(filter, 0x4000_0003, 20, [])).toBe(0x8000_0000);
    // read, write, openat, execve, wait4, futex, mmap.
    const usual = at === 0 ? [0, 1, 257, 59, 61, 202, 9] : [63, 64, 56, 221, 260, 98, 222];
    for (const number of usual) expect(answerOf(filter, audit, number, [1, 2, 3])).toBe(allow);
    expect([answer('clone', 0x1200011), answer('clone', 0x3d0f00), answer('clone', 0x1000_0011)]).toEqual([
      allow,
      allow,
      eperm,
    ]);
    expect([435, 425, 447, 999].map((number) => answerOf(filter, audit, number, []))).toEqual(Array(4).fill(enosys));
    const sockets = [
      [1, 1, 0],
      [2, 0x80801, 6],
      [2, 2, 17],
      [10, 2, 0],
      [16, 3, 0],
    ];
    for (const socket of sockets) expect([socket, answer('socket', ...socket)]).toEqual([socket, allow]);
    for (const socket of [
      [2, 3, 0],
      [2, 5, 132],
      [10, 3, 6],
    ])
      expect([socket, answer('socket', ...socket)]).toEqual([socket, eperm]);
    for (const socket of [
      [16, 3, 12],
      [40, 1, 0],
      [17, 3, 0],
      [38, 5, 0],
    ])
      expect([socket, answer('socket', ...socket)]).toEqual([socket, unknownFamily]);
    expect([answer('mknodat', 0, 0, 0x1180), answer('mknodat', 0, 0, 0x2180), answer('mknodat', 0, 0, 0x6180)]).toEqual(
      [allow, eperm, eperm],
    );
    expect([answer('ioctl', 0, 0x5413), answer('ioctl', 0, 0x5412)]).toEqual([allow, eperm]);
    expect([answer('personality', 0xffff_ffff), answer('personality', 0x40000)]).toEqual([allow, eperm]);
    for (const name of ['ptrace', 'mount', 'unshare', 'bpf', 'keyctl', 'open_by_handle_at'])
      expect(answer(name)).toBe(eperm);
  },
);
