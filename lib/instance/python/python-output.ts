/**
 * Keeps the bytes of Python's output intact. CPython's own output is decoded line by line, which drops NUL and replaces
 * bytes that are not UTF-8. So its two streams write text that encodes bytes, and this module decodes it: ASCII is
 * unchanged, any other byte `b` is U+E000 + b. A piece that ends in the middle of a line has a marker and a line break
 * behind it, which flush it and are not part of the output.
 */

const FIRST = 0xe000;
const MARK = '\ue100\n';
/** Bytes per piece: it must fit what the Python thread passes on at a time. */
const PIECE_BYTES = 65_536;

/**
 * Python lines, indented by one space, that replace `sys.stdout`, `sys.stderr` and `os.write`. `live`: a line is
 * written when it is whole, as to a terminal.
 */
export const byteOutputSetup = (live: boolean): readonly string[] => [
  ' import io, os',
  ` table = {0: ${FIRST}, **{byte: ${FIRST} + byte for byte in range(128, 256)}}`,
  // The code of an evaluation runs inside code that has replaced it already.
  ' send = getattr(os.write, "plain", os.write)',
  ' def write(fd, data):',
  '  if fd not in (1, 2):',
  '   return send(fd, data)',
  '  data = bytes(data)',
  `  for start in range(0, len(data), ${PIECE_BYTES}):`,
  `   piece = data[start:start + ${PIECE_BYTES}].decode("latin-1").translate(table)`,
  `   piece = (piece if piece.endswith("\\n") else piece + ${JSON.stringify(MARK)}).encode()`,
  '   while piece:',
  '    piece = piece[send(fd, piece):]',
  '  return len(data)',
  ' class Raw(io.RawIOBase):',
  '  def __init__(self, fd, name):',
  '   self.fd, self.name, self.mode = fd, name, "wb"',
  '  def fileno(self):',
  '   return self.fd',
  '  def writable(self):',
  '   return True',
  '  def write(self, data):',
  '   return write(self.fd, data)',
  ' def stream(fd, name, **options):',
  '  return io.TextIOWrapper(io.BufferedWriter(Raw(fd, name)), encoding="utf-8", **options)',
  ' write.plain = send',
  ' sys.stdout.flush()',
  ' os.write = write',
  ` sys.stdout = sys.__stdout__ = stream(1, "<stdout>"${live ? ', line_buffering=True' : ''})`,
  ' sys.stderr = sys.__stderr__ = stream(2, "<stderr>", errors="backslashreplace", line_buffering=True)',
];

/** Decodes such output. Text that was not written through these streams is taken as it is. */
export function decodePythonOutput(output: string): Buffer {
  const text = Buffer.from(output.replaceAll(MARK, ''));
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    const third = text[at + 2] ?? 0;
    const second = text[at + 1] ?? 0;
    // U+E000 to U+E0FF are EE 80 80 to EE 83 BF.
    if (text[at] === 0xee && second >= 0x80 && second <= 0x83) {
      text[end++] = ((second & 0x03) << 6) | (third & 0x3f);
      at += 2;
    } else text[end++] = text[at] ?? 0;
  }
  return text.subarray(0, end);
}
