/** Lines that sandboxes printed, the oldest first: when, what printed them, and the lines of one call together. */
import type { PrintedLine } from '#lib/contract/schema.ts';
import { exactMoment, secondOfDay } from '../ui/zones.ts';

/** How a level is told from the others besides its word. */
const LEVEL_CLASSES: Readonly<Record<PrintedLine['level'], string>> = {
  error: 'text-fault-ink',
  warn: 'font-[560]',
  info: '',
  debug: 'text-ink-2',
};

/** Whether the level is in the text already, or is that of most lines. */
function saysItself({ level, text }: PrintedLine): boolean {
  return level === 'info' || text.slice(0, 120).toLowerCase().includes(level);
}

/** Whether a line goes on with what the one before it had. */
function goesOn(line: PrintedLine, before: PrintedLine | undefined): boolean {
  if (before === undefined || before.request_id === null) return false;
  return before.request_id === line.request_id && before.source === line.source && before.instance === line.instance;
}

function Causes({ line, callHref }: { line: PrintedLine; callHref: string }) {
  const { request_id: request, source } = line;
  if (request === null) return source;
  const of = new URLSearchParams({ request_id: request });
  return (
    <>
      <a
        href={`${callHref}${callHref.includes('?') ? '&' : '?'}${of}#log`}
        aria-label={`${source}: all that this call printed`}
      >
        {source}
      </a>{' '}
      <a href={`/audit?${of}`} aria-label="Lines of this call in the ledger" title="Lines of this call in the ledger">
        ledger
      </a>
    </>
  );
}

/**
 * `callHref`: the page that shows one call, to which its request is added. `hasNames`: lines of several sandboxes.
 * `zone`: of the reader.
 */
export function PrintedLines({
  lines,
  callHref,
  hasNames,
  zone,
}: {
  lines: readonly PrintedLine[];
  callHref: string;
  hasNames: boolean;
  zone: string;
}) {
  return (
    <ol className="font-mono text-[0.8125rem] leading-[1.5]">
      {lines.map((line, at) => (
        <li key={line.seq} className="grid gap-x-3 px-3 md:grid-cols-[auto_minmax(9rem,auto)_minmax(0,1fr)]">
          <time
            dateTime={new Date(line.time_ms).toISOString()}
            title={exactMoment(line.time_ms / 1000, zone)}
            className="whitespace-nowrap text-ink-2 max-md:hidden"
          >
            {secondOfDay(line.time_ms / 1000, zone)}
          </time>
          <span className="text-ink-2 [overflow-wrap:anywhere] md:max-w-56">
            {!goesOn(line, lines[at - 1]) && (
              <>
                <span className="md:hidden">{secondOfDay(line.time_ms / 1000, zone)} </span>
                {hasNames && (
                  <>
                    <a href={`/sandboxes/${line.instance}?tab=logs#parts`}>{line.instance}</a>{' '}
                  </>
                )}
                <Causes line={line} callHref={callHref} />
              </>
            )}
          </span>
          <span className={`min-w-0 whitespace-pre-wrap [overflow-wrap:anywhere] ${LEVEL_CLASSES[line.level]}`}>
            {!saysItself(line) && <span className="mr-2 text-small uppercase">{line.level}</span>}
            {line.text}
          </span>
        </li>
      ))}
    </ol>
  );
}
