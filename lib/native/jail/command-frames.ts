/**
 * The frames between a server and the first process of a jail: one byte of kind, the number of the run, the length of
 * what follows. What comes from a jail is a guest's: it is parsed here, once, within bounds. Knows nothing of runs.
 */

/** What init.pl knows by the same numbers. */
const SENT = { start: 1, input: 2, inputEnd: 3, moreOutput: 4, signal: 5 } as const;
const RECEIVED = ['', 'ready', 'stdout', 'stderr', 'exited', 'failed', 'moreInput', 'started'] as const;

const HEADER_BYTES = 9;
/** What of each stream may be on its way unread. */
export const WINDOW_BYTES = 256 * 1024;
/** The longest piece of a stream in one frame. */
const CHUNK_BYTES = 64 * 1024;
/** Commands, with their arguments and variables: as many as the kernel takes for one process, about. */
export const MOST_START_BYTES = 2 * 1024 * 1024;
/** The highest signal of Linux. */
const LAST_SIGNAL = 64;

/** What went wrong before a command began: what the jail had no more of, its folder, the program. */
type FailedStep = 'resources' | 'cwd' | 'program';
const STEPS: readonly FailedStep[] = ['resources', 'cwd', 'program'];

export type JailFrame =
  | { kind: 'ready' }
  | { kind: 'stdout' | 'stderr'; run: number; bytes: Buffer }
  | { kind: 'exited'; run: number; code: number; signal: number }
  | { kind: 'failed'; run: number; step: FailedStep; errno: number }
  | { kind: 'moreInput'; run: number; bytes: number }
  | { kind: 'started'; run: number; pid: number };

/** What a jail has sent is no frame: whatever is in it can no longer be spoken with. */
export class JailProtocolError extends Error {}

/** Takes frames out of the bytes that a jail sends, however they are cut. */
export class JailFrames {
  #rest: Buffer = Buffer.alloc(0);

  /** The frames that these bytes complete. Throws JailProtocolError; what came before in the same bytes is lost. */
  take(bytes: Buffer): JailFrame[] {
    let rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    const frames: JailFrame[] = [];
    while (rest.length >= HEADER_BYTES) {
      const length = rest.readUInt32BE(5);
      if (length > CHUNK_BYTES) throw new JailProtocolError(`a frame of ${length} bytes`);
      if (rest.length < HEADER_BYTES + length) break;
      const payload = rest.subarray(HEADER_BYTES, HEADER_BYTES + length);
      frames.push(frameOf(rest.readUInt8(0), rest.readUInt32BE(1), payload));
      rest = rest.subarray(HEADER_BYTES + length);
    }
    // Bytes that were handed out must not hold what comes next, nor be held by it.
    this.#rest = Buffer.from(rest);
    return frames;
  }
}

function frameOf(number: number, run: number, payload: Buffer): JailFrame {
  const kind = RECEIVED[number] ?? '';
  const sized = (bytes: number) => {
    if (payload.length !== bytes) throw new JailProtocolError(`"${kind}" of ${payload.length} bytes`);
    return payload;
  };
  switch (kind) {
    case 'ready':
      sized(0);
      return { kind };
    case 'stdout':
    case 'stderr':
      if (payload.length === 0) throw new JailProtocolError(`"${kind}" without bytes`);
      return { kind, run, bytes: payload };
    case 'exited': {
      const [code = 0, signal = 0] = sized(2);
      if (signal > LAST_SIGNAL) throw new JailProtocolError(`a signal ${signal}`);
      return { kind, run, code, signal };
    }
    case 'failed': {
      const step = STEPS[sized(3).readUInt8(0)];
      if (step === undefined) throw new JailProtocolError('a step that is none');
      return { kind, run, step, errno: payload.readUInt16BE(1) };
    }
    case 'moreInput':
      return { kind, run, bytes: sized(4).readUInt32BE(0) };
    case 'started': {
      const pid = sized(4).readUInt32BE(0);
      if (pid < 2) throw new JailProtocolError(`a process ${pid}`);
      return { kind, run, pid };
    }
    default:
      throw new JailProtocolError(`a frame of kind ${number}`);
  }
}

function frame(kind: number, run: number, payload: Buffer = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt8(kind, 0);
  header.writeUInt32BE(run, 1);
  header.writeUInt32BE(payload.length, 5);
  return Buffer.concat([header, payload]);
}

/** Begins a command. `env`: `NAME=value` each. No text may hold a NUL. */
export function startFrame(
  run: number,
  { argv, cwd, env }: { argv: readonly string[]; cwd: string; env: readonly string[] },
): Buffer {
  const texts = [cwd, String(argv.length), ...argv, ...env].map((text) => Buffer.from(text));
  const pieces = texts.flatMap((text) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length, 0);
    return [length, text];
  });
  return frame(SENT.start, run, Buffer.concat(pieces));
}

/** Input of a command, in pieces that init.pl takes. */
export function inputFrames(run: number, bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    frames.push(frame(SENT.input, run, bytes.subarray(at, at + CHUNK_BYTES)));
  return frames;
}

export function inputEndFrame(run: number): Buffer {
  return frame(SENT.inputEnd, run);
}

/** Lets so many bytes more of a stream come. */
export function moreOutputFrame(run: number, stream: 'stdout' | 'stderr', bytes: number): Buffer {
  const payload = Buffer.alloc(5);
  payload.writeUInt8(stream === 'stdout' ? 1 : 2, 0);
  payload.writeUInt32BE(bytes, 1);
  return frame(SENT.moreOutput, run, payload);
}

/** Sends a signal to the process group of a command. */
export function signalFrame(run: number, signal: number): Buffer {
  return frame(SENT.signal, run, Buffer.from([signal]));
}
