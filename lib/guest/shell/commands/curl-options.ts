/** The options of `curl` as what they ask for. Reads files that they name; sends nothing. */
import type { FetchRequest } from '../../../workers/protocol/fetch-messages.ts';
import { type CommandCall, reasonOf } from './own-command.ts';

export interface CurlTransfer {
  request: FetchRequest;
  /** Absolute path; null: standard output. */
  output: string | null;
}

export interface CurlPlan {
  transfers: CurlTransfer[];
  has: (key: string) => boolean;
  /** The last value of an option; null without one. */
  value: (key: string) => string | null;
  /** Milliseconds for each transfer; null: the server's. */
  maxMs: number | null;
  maxRedirects: number;
}

const USAGE_EXIT = 2;
const READ_EXIT = 26;
const MALFORMED_EXIT = 3;
const MOST_REDIRECTS = 50;
const LETTERS = 'sSfLX:H:d:o:OiIw:u:A:e:Gb:m:kT:F:vD:#gN046Z:x:c:K:r:';
const LONG = {
  ...{ silent: 's', 'show-error': 'S', fail: 'f', 'fail-with-body': 'fail-with-body', location: 'L', 'request=': 'X' },
  ...{
    'header=': 'H',
    'data=': 'd',
    'data-ascii=': 'd',
    'data-binary=': 'binary',
    'data-raw=': 'raw',
    'json=': 'json',
  },
  ...{ 'data-urlencode=': 'urlencode', 'output=': 'o', 'remote-name': 'O', include: 'i', head: 'I', 'write-out=': 'w' },
  ...{ 'user=': 'u', 'user-agent=': 'A', 'referer=': 'e', get: 'G', 'cookie=': 'b', 'max-time=': 'm', insecure: 'k' },
  ...{ 'upload-file=': 'T', 'form=': 'F', verbose: 'v', 'dump-header=': 'D', 'progress-bar': '#', globoff: 'g' },
  ...{ 'no-buffer': 'N', 'http1.1': '0', 'http1.0': '0', http2: '0', ipv4: '4', ipv6: '6', compressed: 'compressed' },
  ...{
    'connect-timeout=': 'connect-timeout',
    'max-redirs=': 'max-redirs',
    'url=': 'url',
    'create-dirs': 'create-dirs',
  },
  ...{ 'retry=': 'retry', 'retry-delay=': 'retry-delay', 'no-progress-meter': 's', 'oauth2-bearer=': 'bearer' },
  ...{ 'proxy=': 'x', 'cacert=': 'cacert', 'cert=': 'cert', 'resolve=': 'resolve', 'connect-to=': 'connect-to' },
  ...{ 'unix-socket=': 'unix-socket', 'interface=': 'interface', 'config=': 'K', 'cookie-jar=': 'c', 'range=': 'r' },
  'parallel-max=': 'Z',
};
/** What only the server decides, or what would leave a file behind that nothing else here reads. */
const REFUSED = new Set(['k', 'x', 'cacert', 'cert', 'resolve', 'connect-to', 'unix-socket', 'interface', 'K', 'c']);

/** Parses the arguments. Ends the command with curl's exit code for what is wrong with them. */
export async function curlPlan(call: CommandCall): Promise<CurlPlan> {
  const { options, operands } = call.options({ letters: LETTERS, long: LONG });
  const has = (key: string) => options.some((option) => option.key === key);
  const values = (key: string) => options.filter((option) => option.key === key).map(({ value }) => value ?? '');
  const value = (key: string) => values(key).at(-1) ?? null;
  const refused = options.find(({ key }) => REFUSED.has(key));
  if (refused !== undefined) {
    call.end(`option ${refused.written}: the server decides this for every sandbox`, USAGE_EXIT);
  }
  const urls = [...values('url'), ...operands];
  if (urls.length === 0) call.end('no URL specified', USAGE_EXIT);
  const body = await bodyOf(call, options);
  const usesQuery = has('G');
  const sent = usesQuery || has('I') ? null : body;
  const upload = value('T');
  const method = value('X') ?? (has('I') ? 'HEAD' : upload !== null ? 'PUT' : sent === null ? 'GET' : 'POST');
  const headers = headersOf(values, sent?.type ?? null);
  const outputs = options.filter(({ key }) => key === 'o' || key === 'O');
  const transfers: CurlTransfer[] = [];
  for (const [at, given] of urls.entries()) {
    const { url, user } = addressOf(call, given);
    const query = usesQuery && body !== null ? body.bytes.toString('latin1') : '';
    if (query !== '') url.search = url.search === '' ? query : `${url.search}&${query}`;
    const output = outputs[at];
    transfers.push({
      request: {
        url: url.href,
        method,
        headers: user === null ? headers : withHeader(headers, 'authorization', basic(user)),
        body: upload === null ? (sent?.bytes ?? null) : await inputOf(call, upload),
        decode: has('compressed'),
        timeoutMs: null,
      },
      output: output === undefined ? null : outputOf(call, output, url),
    });
  }
  return { transfers, has, value, maxMs: maxMsOf(call, value), maxRedirects: maxRedirectsOf(call, value) };
}

function headersOf(values: (key: string) => string[], bodyType: string | null): [string, string][] {
  let headers: [string, string][] = [
    ['user-agent', values('A').at(-1) ?? 'curl/8.5.0'],
    ['accept', '*/*'],
  ];
  const set = (name: string, content: string | undefined) => {
    if (content !== undefined) headers = withHeader(headers, name, content);
  };
  if (bodyType !== null) set('content-type', bodyType);
  set('referer', values('e').at(-1));
  set(
    'range',
    values('r')
      .map((range) => `bytes=${range}`)
      .at(-1),
  );
  const cookies = values('b').filter((text) => text.includes('='));
  set('cookie', cookies.length === 0 ? undefined : cookies.join('; '));
  set('authorization', values('u').map(basic).at(-1));
  set(
    'authorization',
    values('bearer')
      .map((token) => `Bearer ${token}`)
      .at(-1),
  );
  if (values('json').length > 0) set('accept', 'application/json');
  for (const line of values('H')) {
    const [, name = '', mark = '', content = ''] = /^([^:;]*)([:;]?)(.*)$/s.exec(line) ?? [];
    const key = name.trim().toLowerCase();
    headers = headers.filter(([one]) => one !== key || (mark === ':' && isGiven(values, one, line)));
    if (content.trim() !== '' || mark === ';') headers.push([key, content.trim()]);
  }
  return headers;
}

/** A header that `-H` gave before may be there twice. */
function isGiven(values: (key: string) => string[], name: string, line: string): boolean {
  const lines = values('H');
  return lines.slice(0, lines.indexOf(line)).some((one) => one.toLowerCase().startsWith(`${name}:`));
}

function withHeader(headers: readonly [string, string][], name: string, content: string): [string, string][] {
  return [...headers.filter(([one]) => one !== name), [name, content]];
}

function basic(user: string): string {
  return `Basic ${Buffer.from(user.includes(':') ? user : `${user}:`).toString('base64')}`;
}

/** The body of `-d`, `-F` and their like; null without any. */
async function bodyOf(
  call: CommandCall,
  options: readonly { key: string; value: string | null }[],
): Promise<{ bytes: Buffer; type: string } | null> {
  const parts: Buffer[] = [];
  const forms: string[] = [];
  let type = 'application/x-www-form-urlencoded';
  for (const { key, value } of options) {
    const text = value ?? '';
    const isFile = text.startsWith('@');
    if (key === 'd') {
      const content = isFile ? await inputOf(call, text.slice(1)) : Buffer.from(text);
      parts.push(isFile ? Buffer.from(content.toString('latin1').replace(/[\r\n\0]/g, ''), 'latin1') : content);
    } else if (key === 'binary' || key === 'json') {
      parts.push(isFile ? await inputOf(call, text.slice(1)) : Buffer.from(text));
      if (key === 'json') type = 'application/json';
    } else if (key === 'raw') parts.push(Buffer.from(text));
    else if (key === 'urlencode') parts.push(Buffer.from(await urlEncoded(call, text)));
    else if (key === 'F') forms.push(text);
  }
  if (forms.length > 0) return formOf(call, forms);
  if (parts.length === 0) return null;
  const joint = Buffer.from(type === 'application/json' ? '' : '&');
  return { bytes: Buffer.concat(parts.flatMap((part, at) => (at === 0 ? [part] : [joint, part]))), type };
}

async function urlEncoded(call: CommandCall, text: string): Promise<string> {
  const [, name = '', mark = '', rest = ''] = /^([^=@]*)([=@]?)(.*)$/s.exec(text) ?? [];
  const content = mark === '@' ? (await inputOf(call, rest)).toString() : mark === '=' ? rest : name;
  const encoded = encodeURIComponent(content).replace(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return mark !== '' && name !== '' ? `${name}=${encoded}` : encoded;
}

async function formOf(call: CommandCall, forms: readonly string[]): Promise<{ bytes: Buffer; type: string }> {
  // Long enough that no file holds it by chance, and the same for the same form.
  const boundary = `------------------------${'winterdock'.padEnd(16, '0')}`;
  const pieces: Buffer[] = [];
  for (const form of forms) {
    const [, name = '', rest = ''] = /^([^=]*)=(.*)$/s.exec(form) ?? [];
    if (name === '') call.end(`Illegally formatted input field`, USAGE_EXIT);
    const [, mark = '', source = ''] = /^([@<]?)(.*)$/s.exec(rest) ?? [];
    const [path = '', ...settings] = mark === '' ? [rest] : source.split(';');
    const type = settings.find((one) => one.startsWith('type='))?.slice(5);
    const file = settings.find((one) => one.startsWith('filename='))?.slice(9) ?? path.split('/').at(-1);
    const content = mark === '' ? Buffer.from(rest) : await inputOf(call, path);
    const named = mark === '@' ? `; filename="${file}"\r\nContent-Type: ${type ?? 'application/octet-stream'}` : '';
    pieces.push(
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${named}\r\n\r\n`),
      content,
    );
    pieces.push(Buffer.from('\r\n'));
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`));
  return { bytes: Buffer.concat(pieces), type: `multipart/form-data; boundary=${boundary}` };
}

async function inputOf(call: CommandCall, path: string): Promise<Buffer> {
  try {
    return await call.input(path);
  } catch (error) {
    return call.end(`option: error encountered when reading a file: ${path}: ${reasonOf(error)}`, READ_EXIT);
  }
}

/** An address as curl reads it: `http://` where it names no scheme, a user of its own. */
function addressOf(call: CommandCall, given: string): { url: URL; user: string | null } {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(given) ? given : `http://${given}`;
  const scheme = text.slice(0, text.indexOf(':')).toLowerCase();
  if (scheme !== 'http' && scheme !== 'https') call.end(`(1) Protocol "${scheme}" not supported`, 1);
  if (/[\p{Cc} \\]/u.test(text) || !URL.canParse(text)) {
    call.end(`(3) URL using bad/illegal format or missing URL`, MALFORMED_EXIT);
  }
  const url = new URL(text);
  const user = url.username === '' ? null : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = '';
  url.password = '';
  return { url, user };
}

function outputOf(call: CommandCall, { key, value }: { key: string; value: string | null }, url: URL): string | null {
  if (key === 'o') return value === '-' ? null : call.path(value ?? '');
  const name = url.pathname.split('/').at(-1) ?? '';
  if (name === '') call.end('(23) Remote file name has no length', 23);
  return call.path(decodeURIComponent(name).replaceAll('/', '_'));
}

function maxMsOf(call: CommandCall, value: (key: string) => string | null): number | null {
  const given = [value('m'), value('connect-timeout')].filter((text) => text !== null);
  const seconds = given.map((text) =>
    /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : call.end('expected a proper numerical parameter', USAGE_EXIT),
  );
  const least = value('m') === null ? null : (seconds[0] ?? 0);
  return least === null || least === 0 ? null : Math.min(least * 1000, 3_600_000);
}

function maxRedirectsOf(call: CommandCall, value: (key: string) => string | null): number {
  const given = value('max-redirs');
  if (given === null) return MOST_REDIRECTS;
  if (!/^-?\d+$/.test(given)) call.end('expected a proper numerical parameter', USAGE_EXIT);
  return Number(given) < 0 ? MOST_REDIRECTS : Math.min(Number(given), MOST_REDIRECTS);
}
