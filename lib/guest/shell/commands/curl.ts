/** `curl`: requests through the server, with curl's options, output and exit codes. */
import { STATUS_CODES } from 'node:http';
import type { FetchAnswer, FetchFailure, FetchRequest } from '../../../workers/protocol/fetch-messages.ts';
import { elapsedSince, monotonicMs } from '../../../workers/protocol/monotonic.ts';
import { type Followed, followRedirects } from '../../../workers/protocol/redirects.ts';
import { type CurlPlan, type CurlTransfer, curlPlan } from './curl-options.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

type Answer = Extract<FetchAnswer, { status: number }>;

const HTTP_ERROR_EXIT = 22;
const WRITE_EXIT = 23;
const REDIRECTS_EXIT = 47;
const HANDSHAKE_EXIT = 35;
/** curl's exit code for each failure. */
const EXITS: Readonly<Record<FetchFailure, number>> = {
  profile: 7,
  refused: 7,
  limit: 7,
  connect: 7,
  malformed: 3,
  resolve: 6,
  tls: 60,
  timeout: 28,
  too_large: 63,
  broken: 56,
  aborted: 42,
};

export const curl: OwnCommand = {
  usageExit: 2,
  like: 'curl 8.5.0, which it is not',
  help: 'Usage: curl [options...] <url>\nRequests go through the server, which has the list of what this sandbox may reach.',
  async main(call: CommandCall) {
    // A reader that runs ahead of its writer must change nothing, elsewhere neither.
    if (call.isTrial) return 0;
    const plan = await curlPlan(call);
    let exitCode = 0;
    for (const transfer of plan.transfers) exitCode = await carryOut(call, plan, transfer);
    return exitCode;
  },
};

async function carryOut(call: CommandCall, plan: CurlPlan, transfer: CurlTransfer): Promise<number> {
  const { has, value } = plan;
  const started = monotonicMs();
  const hops: Answer[] = [];
  const send = (request: FetchRequest): Promise<FetchAnswer> => {
    const left = plan.maxMs === null ? null : Math.max(1, plan.maxMs - elapsedSince(started));
    if (has('v')) call.warn(requestText(request));
    return call.fetch({ ...request, timeoutMs: left });
  };
  const most = has('L') ? plan.maxRedirects : 0;
  const followed = await followRedirects(transfer.request, send, {
    most,
    keepsMethod: value('X') !== null,
    onHop: (answer) => hops.push(answer),
  });
  call.requireTime();
  const { answer } = followed;
  const failure = 'failure' in answer ? answer : null;
  let exitCode = failure === null ? 0 : exitOf(failure);
  let why = failure === null ? null : sentenceOf(failure, transfer.request.url);
  if (failure === null) {
    const last = answer as Answer;
    const isError = last.status >= 400 && (has('f') || has('fail-with-body'));
    if (followed.tooMany && has('L')) {
      exitCode = REDIRECTS_EXIT;
      why = `Maximum (${most}) redirects followed`;
    } else if (isError) {
      exitCode = HTTP_ERROR_EXIT;
      why = `The requested URL returned error: ${last.status}`;
    }
    if (has('v')) call.warn([...hops, last].map((one) => prefixed('< ', headText(one))).join(''));
    const written = await write(call, plan, transfer, { hops, last, showsBody: !(isError && has('f')) });
    if (written !== null && exitCode === 0) [exitCode, why] = [WRITE_EXIT, written];
  }
  if (why !== null && (!has('s') || has('S'))) call.warn(`curl: (${exitCode}) ${why}\n`);
  const format = value('w');
  if (format !== null) call.print(writeOut(format, { followed, exitCode, tookMs: elapsedSince(started) }));
  return exitCode;
}

/** Writes headers and body to where they belong. Returns why it could not. */
async function write(
  call: CommandCall,
  { has, value }: CurlPlan,
  { output }: CurlTransfer,
  { hops, last, showsBody }: { hops: readonly Answer[]; last: Answer; showsBody: boolean },
): Promise<string | null> {
  const head = Buffer.from([...hops, last].map(headText).join(''), 'latin1');
  const dump = value('D');
  const body = showsBody && !has('I') ? Buffer.from(last.body) : Buffer.alloc(0);
  const content = has('i') || has('I') ? Buffer.concat([head, body]) : body;
  try {
    if (dump === '-') call.print(head);
    else if (dump !== null) await call.changes.writeFile(call.path(dump), head);
    if (output === null) call.print(content);
    else {
      if (has('create-dirs')) await call.changes.mkdir(output.replace(/\/[^/]*$/, '') || '/', { recursive: true });
      await call.changes.writeFile(output, content);
    }
    return null;
  } catch (error) {
    return `Failure writing output to destination: ${reasonOf(error)}`;
  }
}

function headText({ status, statusText, headers }: Answer): string {
  const reason = statusText === '' ? (STATUS_CODES[status] ?? '') : statusText;
  const lines = headers.map(([name, content]) => `${name}: ${content}\r\n`).join('');
  return `HTTP/1.1 ${status}${reason === '' ? '' : ` ${reason}`}\r\n${lines}\r\n`;
}

function requestText({ method, url, headers }: FetchRequest): string {
  const { pathname, search, host } = new URL(url);
  const lines = [`${method} ${pathname}${search} HTTP/1.1`, `host: ${host}`, ...headers.map(([n, c]) => `${n}: ${c}`)];
  return `${lines.map((line) => `> ${line}\n`).join('')}>\n`;
}

function prefixed(mark: string, text: string): string {
  return text.replace(/\r\n/g, '\n').replace(/^/gm, mark).slice(0, -mark.length);
}

function exitOf({ failure, message }: Extract<FetchAnswer, { failure: FetchFailure }>): number {
  return failure === 'tls' && !message.includes('not trusted') ? HANDSHAKE_EXIT : EXITS[failure];
}

/** A failure in curl's words where it has any. */
function sentenceOf({ failure, message }: Extract<FetchAnswer, { failure: FetchFailure }>, url: string): string {
  if (failure === 'resolve') return `Could not resolve host: ${new URL(url).hostname}`;
  return failure === 'connect' ? `Failed to connect to ${new URL(url).host}: ${message}` : message;
}

/** The text of `-w`. What nothing is known of is empty. */
function writeOut(format: string, of: { followed: Followed; exitCode: number; tookMs: number }): string {
  const { followed, exitCode, tookMs } = of;
  const answer = 'status' in followed.answer ? followed.answer : null;
  const code = String(answer?.status ?? 0).padStart(3, '0');
  const header = (name: string) => answer?.headers.find(([one]) => one === name)?.[1];
  const location = header('location');
  const leadsOn = location !== undefined && URL.canParse(location, followed.url);
  const seconds = (tookMs / 1000).toFixed(6);
  const known: Readonly<Record<string, string>> = {
    http_code: code,
    response_code: code,
    content_type: header('content-type') ?? '',
    size_download: String(answer?.body.byteLength ?? 0),
    num_redirects: String(followed.redirects),
    redirect_url: leadsOn && (answer?.status ?? 0) >= 300 ? new URL(location, followed.url).href : '',
    url_effective: followed.url,
    url: followed.url,
    time_total: seconds,
    exitcode: String(exitCode),
    errormsg: 'failure' in followed.answer ? followed.answer.message : '',
    http_version: '1.1',
    scheme: followed.url.slice(0, followed.url.indexOf(':')),
    num_headers: String(answer?.headers.length ?? 0),
  };
  return format
    .replace(/%\{([^}]*)\}/g, (_whole, name: string) => {
      const wanted = /^header\{?(.*)$/.exec(name)?.[1];
      return known[name] ?? (wanted === undefined ? '' : (header(wanted.toLowerCase()) ?? ''));
    })
    .replaceAll('%%', '%')
    .replace(/\\([nrt\\])/g, (_whole, letter: string) => ({ n: '\n', r: '\r', t: '\t' })[letter] ?? '\\');
}
