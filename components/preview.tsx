/** One file, looked at safely: text escaped, images inert, bytes as hex. */
import { exactMoment, sizeInWords } from './durations.ts';
import type { PreviewKind } from './preview-kind.ts';
import { SCROLLS } from './scrolls.ts';

function Body({ preview, address, name }: { preview: PreviewKind; address: string; name: string }) {
  switch (preview.kind) {
    case 'empty':
      return <p className="px-4 py-3 text-ink-3">The file is empty.</p>;
    case 'image':
      return (
        <img
          src={address}
          alt={`What ${name} shows`}
          className="m-4 max-h-[28rem] max-w-[calc(100%-2rem)] object-contain"
        />
      );
    case 'hex':
      return (
        <pre className="overflow-x-auto px-4 py-3 text-[0.8125rem] leading-[1.55]" {...SCROLLS}>
          {preview.rows.map(({ offset, hex, text }) => (
            <span key={offset} className="block">
              <span className="text-ink-3">{offset}</span> {hex.padEnd(47)} <span className="text-ink-2">{text}</span>
            </span>
          ))}
        </pre>
      );
    default:
      return (
        <pre className="max-h-[34rem] overflow-auto px-4 py-3 text-[0.8125rem] leading-[1.55]" {...SCROLLS}>
          {preview.text}
        </pre>
      );
  }
}

/** `shown` of `size` bytes are in the preview; `address` is where the file is downloaded from. */
export function Preview({
  title,
  name,
  size,
  mtime,
  shown,
  preview,
  address,
}: {
  /** The file's way from the top of the sandbox. */
  title: string;
  name: string;
  size: number;
  mtime: number;
  shown: number;
  preview: PreviewKind;
  address: string;
}) {
  const seen = preview.kind === 'hex' ? Math.min(shown, preview.rows.length * 16) : shown;
  return (
    <figure className="min-w-0 rounded border border-rule-2 bg-sheet">
      <figcaption className="flex flex-wrap items-center justify-between gap-x-6 gap-y-1 border-b border-rule px-4 py-2">
        <code className="min-w-0 text-[0.8125rem] font-[560] [overflow-wrap:anywhere]">{title}</code>
        <span className="flex items-center gap-4 text-small text-ink-3">
          <time dateTime={new Date(mtime * 1000).toISOString()} title={exactMoment(mtime)}>
            {sizeInWords(size)}
          </time>
          <a href={address} download={name} className="text-ink">
            Download
          </a>
        </span>
      </figcaption>
      <Body preview={preview} address={address} name={name} />
      {preview.kind !== 'image' && seen < size && (
        <p className="border-t border-rule px-4 py-2 text-small text-ink-3">
          The first {sizeInWords(seen)} of {sizeInWords(size)}. Download it to see the rest.
        </p>
      )}
    </figure>
  );
}
