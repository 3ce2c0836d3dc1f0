/** Text with `code` between backticks. */
export function Prose({ text }: { text: string }) {
  const pieces = text.split('`').map((piece, at) => ({ at, piece }));
  return pieces.map(({ at, piece }) => (at % 2 === 1 ? <code key={at}>{piece}</code> : piece));
}
