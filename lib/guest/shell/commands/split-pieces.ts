/** How `split` cuts: the pieces of an input, and the names of the files that they become. Pure. */

export type Way =
  | { kind: 'lines' | 'bytes' | 'lineBytes'; size: number }
  | { kind: 'chunks' | 'lineChunks' | 'roundRobin'; count: number; only: number | null };

/** Lines with their ends, as parts of the input. */
function* linesOf(bytes: Buffer, end: number): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const found = bytes.indexOf(end, at);
    const next = found === -1 ? bytes.length : found + 1;
    yield bytes.subarray(at, next);
    at = next;
  }
}

/** The pieces in order, each a part of the input; `end` is the byte that ends a line. */
export function* pieces(bytes: Buffer, way: Way, end: number): Generator<Buffer> {
  switch (way.kind) {
    case 'bytes':
      for (let at = 0; at < bytes.length; at += way.size) yield bytes.subarray(at, at + way.size);
      return;
    case 'lines':
      yield* joined(bytes, linesOf(bytes, end), way.size);
      return;
    case 'lineBytes':
      yield* piecesUpTo(bytes, way.size, end);
      return;
    case 'chunks': {
      const size = Math.floor(Math.max(bytes.length, way.count) / way.count);
      for (let at = 0; at < way.count; at += 1)
        yield bytes.subarray(at * size, at === way.count - 1 ? bytes.length : (at + 1) * size);
      return;
    }
    case 'lineChunks':
      yield* lineChunks(bytes, way.count, end);
      return;
    case 'roundRobin': {
      const parts = Array.from({ length: way.count }, (): Buffer[] => []);
      let at = 0;
      for (const line of linesOf(bytes, end)) {
        parts[at % way.count]?.push(line);
        at += 1;
      }
      for (const part of parts) yield Buffer.concat(part);
    }
  }
}

/** Neighbouring parts together, `most` at a time. */
function* joined(bytes: Buffer, parts: Iterable<Buffer>, most: number): Generator<Buffer> {
  let [from, to, count] = [0, 0, 0];
  for (const part of parts) {
    to += part.length;
    count += 1;
    if (count < most) continue;
    yield bytes.subarray(from, to);
    [from, count] = [to, 0];
  }
  if (to > from) yield bytes.subarray(from, to);
}

/** As many whole lines as fit into `size` bytes; a longer one is cut, and its rest has a piece of its own. */
function* piecesUpTo(bytes: Buffer, size: number, end: number): Generator<Buffer> {
  let [from, to] = [0, 0];
  for (const line of linesOf(bytes, end)) {
    if (to > from && to - from + line.length > size) {
      yield bytes.subarray(from, to);
      from = to;
    }
    to += line.length;
    if (line.length <= size) continue;
    for (; to > from; from += size) yield bytes.subarray(from, Math.min(to, from + size));
    from = to;
  }
  if (to > from) yield bytes.subarray(from, to);
}

/** Each line is in the chunk of equal bytes in which it begins. */
function* lineChunks(bytes: Buffer, count: number, end: number): Generator<Buffer> {
  const size = Math.floor(Math.max(bytes.length, count) / count);
  let from = 0;
  for (let chunk = 1; chunk <= count; chunk += 1) {
    const edge = chunk === count ? bytes.length : chunk * size;
    let to = from;
    if (edge > from) {
      const found = bytes.indexOf(end, edge - 1);
      to = found === -1 || chunk === count ? bytes.length : found + 1;
    }
    yield bytes.subarray(from, to);
    from = to;
  }
}

export interface Suffixes {
  alphabet: string;
  length: number;
  /** Whether it grows when there are no more of its length. */
  grows: boolean;
  /** The number of the first one. */
  first: number;
}

/** The suffixes in their order: `aa` to `yz`, then, where they grow, `zaaa`. Ends when there are no more. */
export function* suffixes({ alphabet, length, grows, first }: Suffixes): Generator<string> {
  const last = alphabet.at(-1) ?? '';
  let [before, digits] = ['', length];
  for (let number = first; ; number += 1) {
    const text = written(number, alphabet, digits);
    if (text.length > digits) return;
    if (grows && text[0] === last) {
      before += last;
      digits += 1;
      number = -1;
    } else yield before + text;
  }
}

function written(number: number, alphabet: string, digits: number): string {
  let text = '';
  for (let left = number; left > 0; left = Math.floor(left / alphabet.length))
    text = alphabet[left % alphabet.length] + text;
  return text.padStart(digits, alphabet[0]);
}
