/** Programs of perl that attack a jail from inside, by the numbers of system calls. */
import type { CallNumbers } from '../../../base/seccomp-program.ts';
import { GUEST_CALLS_BY_NAME } from '../guest-filter.ts';

const at = process.arch === 'arm64' ? 1 : 0;
export const EPERM = 1;
export const ENOSYS = 38;
export const EAFNOSUPPORT = 97;

export function callNumber(name: string): number {
  const numbers: CallNumbers | undefined = GUEST_CALLS_BY_NAME[name];
  if (numbers === undefined) throw new Error(`The filter names no ${name}.`);
  return numbers[at];
}

/** A command line that makes these calls, `[name, number, ...arguments]`, and prints each name with its error. */
export function callsScript(calls: readonly (readonly [string, number, ...(number | string)[]])[]): string {
  const lines = calls.map(([name, number, ...args]) => {
    const words = [0, 1, 2, 3, 4, 5].map((place) => args[place] ?? 0);
    return `$! = 0; my @with = (${words.join(', ')}); my $r = syscall(${number}, @with); print "${name} ", ($r == -1 ? $! + 0 : "done"), "\\n";`;
  });
  return perl(lines.map((line) => `{ ${line} }`).join('\n'));
}

/** A command line that runs a program of perl. */
export function perl(program: string): string {
  return `perl -e '${program.replaceAll("'", `'"'"'`)}'`;
}

/**
 * A program for x86-64 that calls the kernel as one of 32 bits does (`int 0x80`), and exits with 7 when it comes back:
 * an ELF file of one part.
 */
export function elfOf32BitCall(): Buffer {
  const code = Buffer.from([
    ...[0xb8, 0x14, 0x00, 0x00, 0x00, 0xcd, 0x80], // getpid, by its number of 32 bits
    ...[0xb8, 0x3c, 0x00, 0x00, 0x00, 0xbf, 0x07, 0x00, 0x00, 0x00, 0x0f, 0x05], // exit(7), by that of 64
  ]);
  const headers = 64 + 56;
  const base = 0x400000n;
  const elf = Buffer.alloc(headers + code.length);
  elf.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  elf.writeUInt16LE(2, 16);
  elf.writeUInt16LE(62, 18);
  elf.writeUInt32LE(1, 20);
  elf.writeBigUInt64LE(base + BigInt(headers), 24);
  elf.writeBigUInt64LE(64n, 32);
  elf.writeUInt16LE(64, 52);
  elf.writeUInt16LE(56, 54);
  elf.writeUInt16LE(1, 56);
  elf.writeUInt32LE(1, 64);
  elf.writeUInt32LE(5, 68);
  elf.writeBigUInt64LE(base, 80);
  elf.writeBigUInt64LE(base, 88);
  elf.writeBigUInt64LE(BigInt(elf.length), 96);
  elf.writeBigUInt64LE(BigInt(elf.length), 104);
  elf.writeBigUInt64LE(0x1000n, 112);
  elf.set(code, headers);
  return elf;
}

/** What `callsScript` printed: the error of each name. */
export function errnosOf({ stdout }: { stdout: string }): Record<string, string> {
  const lines = stdout.trim().split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' ') as [string, string]));
}

/** One error for all of these names. */
export function only(errno: number, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, String(errno)]));
}
