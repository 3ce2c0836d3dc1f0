/**
 * Assembles filters of system calls as the bytes that the kernel takes (classic BPF). Knows nothing of what a filter
 * refuses.
 */

/** Numbers of a call: of x86-64, and of arm64, which has the generic ones. -1: it has no such call. */
export type CallNumbers = readonly [x64: number, arm64: number];

/** From this number on both have the same calls. */
const FIRST_COMMON_CALL = 424;

/** The kernel's name of each architecture (linux/audit.h), and its place in `CallNumbers`. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, { audit: number; at: 0 | 1 }>> = {
  x64: { audit: 0xc000_003e, at: 0 },
  arm64: { audit: 0xc000_00b7, at: 1 },
};

/** Calls of the x32 ABI have this bit. */
const X32_BIT = 0x4000_0000;

/** Instructions, and places of what they load, in bytes (linux/bpf_common.h, linux/seccomp.h). */
const LOAD = 0x20;
const AND = 0x54;
const IF_EQUAL = 0x15;
const IF_AT_LEAST = 0x35;
const IF_ANY_BIT = 0x45;
const RETURN = 0x06;
const NUMBER_AT = 0;
const ARCHITECTURE_AT = 4;
const FIRST_ARGUMENT_AT = 16;
const ARGUMENT_BYTES = 8;
const INSTRUCTION_BYTES = 8;
/** A jump counts the instructions that it passes in a byte. */
const LONGEST_JUMP = 255;

const REFUSE = 0x0005_0000;
/** What a filter answers. */
export const ANSWER = {
  allow: 0x7fff_0000,
  killProcess: 0x8000_0000,
  eperm: REFUSE | 1,
  enosys: REFUSE | 38,
  eafnosupport: REFUSE | 97,
} as const;

type Instruction = [code: number, value: number, ifTrue: number, ifFalse: number];
type Body = (part: SeccompProgram) => void;

/**
 * A program in the making. What it compares is the number of the call, and within `ofCall` what was loaded last.
 */
export class SeccompProgram {
  /** Which of the numbers of a call are those of this architecture. */
  readonly at: 0 | 1;
  readonly #instructions: Instruction[] = [];

  private constructor(at: 0 | 1) {
    this.at = at;
  }

  /**
   * One that ends a process of another architecture and refuses calls of the x32 ABI; null where there is none for this
   * architecture.
   */
  static begin(architecture: NodeJS.Architecture): SeccompProgram | null {
    const found = ARCHITECTURES[architecture];
    if (found === undefined) return null;
    const program = new SeccompProgram(found.at);
    program.#add(LOAD, ARCHITECTURE_AT);
    program.#add(IF_EQUAL, found.audit, 1, 0);
    program.answer(ANSWER.killProcess);
    program.#add(LOAD, NUMBER_AT);
    if (architecture === 'x64') program.#when(IF_AT_LEAST, X32_BIT, ANSWER.eperm);
    return program;
  }

  /** Of calls from `FIRST_COMMON_CALL` on allows these, and answers all others as a kernel that does not know them. */
  allowCommon(numbers: readonly number[]): void {
    this.#within(IF_AT_LEAST, FIRST_COMMON_CALL, (part) => {
      for (const number of numbers) part.#when(IF_EQUAL, number, ANSWER.allow);
      part.answer(ANSWER.enosys);
    });
  }

  /** Answers a call so, whatever its arguments are. Nothing where this architecture has no such call. */
  answerCall(numbers: CallNumbers, answer: number): void {
    if (numbers[this.at] >= 0) this.#when(IF_EQUAL, numbers[this.at], answer);
  }

  /** What is done with a call: it has to end with an answer. */
  ofCall(numbers: CallNumbers, body: Body): void {
    if (numbers[this.at] >= 0) this.#within(IF_EQUAL, numbers[this.at], body);
  }

  /** What is done where what is loaded is this value. */
  ofValue(value: number, body: Body): void {
    this.#within(IF_EQUAL, value, body);
  }

  /** Loads the lower half of an argument, from 0 on, and of it only these bits. */
  loadArgument(index: number, bits?: number): void {
    this.#add(LOAD, FIRST_ARGUMENT_AT + index * ARGUMENT_BYTES);
    if (bits !== undefined) this.#add(AND, bits);
  }

  /** Answers where what is loaded is this value; else goes on. Returns where in the bytes the value stands. */
  whenEqual(value: number, answer: number): number {
    return this.#when(IF_EQUAL, value, answer) * INSTRUCTION_BYTES + 4;
  }

  /** Answers where what is loaded has any of these bits; else goes on. */
  whenAnyBit(bits: number, answer: number): void {
    this.#when(IF_ANY_BIT, bits, answer);
  }

  /** Answers where what is loaded has none of these bits; else goes on. */
  unlessAnyBit(bits: number, answer: number): void {
    this.#add(IF_ANY_BIT, bits, 1, 0);
    this.answer(answer);
  }

  answer(answer: number): void {
    this.#add(RETURN, answer);
  }

  /** Where in the bytes the next instruction will begin. */
  get length(): number {
    return this.#instructions.length * INSTRUCTION_BYTES;
  }

  /** The program, which has to end with an answer. */
  bytes(): Buffer {
    const bytes = Buffer.alloc(this.length);
    for (const [at, [code, value, ifTrue, ifFalse]] of this.#instructions.entries()) {
      const start = at * INSTRUCTION_BYTES;
      bytes.writeUInt16LE(code, start);
      bytes.writeUInt8(ifTrue, start + 2);
      bytes.writeUInt8(ifFalse, start + 3);
      bytes.writeUInt32LE(value >>> 0, start + 4);
    }
    return bytes;
  }

  #add(code: number, value: number, ifTrue = 0, ifFalse = 0): number {
    return this.#instructions.push([code, value, ifTrue, ifFalse]) - 1;
  }

  #when(comparison: number, value: number, answer: number): number {
    const place = this.#add(comparison, value, 0, 1);
    this.answer(answer);
    return place;
  }

  /** Passes `body` where the comparison does not hold. */
  #within(comparison: number, value: number, body: Body): void {
    const place = this.#add(comparison, value, 0, 0);
    body(this);
    const passed = this.#instructions.length - place - 1;
    if (passed > LONGEST_JUMP) throw new Error(`A part of a filter has ${passed} instructions.`);
    const [instruction] = this.#instructions.slice(place);
    if (instruction !== undefined) instruction[3] = passed;
  }
}
