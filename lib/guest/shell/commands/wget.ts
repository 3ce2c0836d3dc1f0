/** `wget` for one or more addresses: `-q`, `-O`, headers and a body. Everything else of it is curl's. */
import type { FetchFailure, FetchRequest } from '../../../workers/protocol/fetch-messages.ts';
import { followRedirects } from '../../../workers/protocol/redirects.ts';
import { type CommandCall, type OwnCommand, reasonOf } from './own-command.ts';

const MOST_REDIRECTS = 20;
const SERVER_ERROR_EXIT = 8;
const FILE_EXIT = 3;
/** wget's exit code for each failure. */
const EXITS: Partial<Readonly<Record<FetchFailure, number>>> = { malformed: 1, tls: 5 };
const NETWORK_EXIT = 4;

export const wget: OwnCommand = {
  usageExit: 2,
  like: 'wget 1.21, which it is not',
  help: 'Usage: wget [OPTION]... [URL]...\nRequests go through the server, which has the list of what this sandbox may reach.',
  async main(call: CommandCall) {
    if (call.isTrial) return 0;
    const { options, operands } = call.options({
      letters: 'qO:T:U:SnP:t:c',
      long: {
        ...{ quiet: 'q', 'output-document=': 'O', 'timeout=': 'T', 'user-agent=': 'U', 'server-response': 'S' },
        ...{ 'header=': 'header', 'post-data=': 'post-data', 'post-file=': 'post-file', 'method=': 'method' },
        ...{ 'body-data=': 'post-data', 'body-file=': 'post-file', 'no-verbose': 'q', 'directory-prefix=': 'P' },
        ...{ 'tries=': 't', 'no-check-certificate': 'insecure', spider: 'spider', 'content-on-error': 'content' },
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    if (has('insecure')) call.end('the server verifies certificates for every sandbox', 2);
    if (operands.length === 0) call.usage('missing URL');
    const file = value('post-file');
    const text = value('post-data');
    const body = file !== null ? await call.input(file) : text !== null ? Buffer.from(text) : null;
    const method = value('method') ?? (has('spider') ? 'HEAD' : body === null ? 'GET' : 'POST');
    const headers: [string, string][] = [
      ['user-agent', value('U') ?? 'Wget/1.21.3'],
      ['accept', '*/*'],
      ...(body === null ? [] : [['content-type', 'application/x-www-form-urlencoded'] as [string, string]]),
    ];
    for (const { key, value: line } of options) {
      const [, name = '', content = ''] = key === 'header' ? (/^([^:]*):(.*)$/s.exec(line ?? '') ?? []) : [];
      if (name !== '') headers.push([name.trim(), content.trim()]);
    }
    const seconds = Number(value('T') ?? 0);
    const timeoutMs = seconds > 0 ? Math.min(seconds * 1000, 3_600_000) : null;
    const output = value('O');
    const pieces: Buffer[] = [];
    for (const operand of operands) {
      const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(operand) ? operand : `http://${operand}`;
      const request: FetchRequest = { url, method, headers, body, decode: false, timeoutMs };
      const {
        answer,
        tooMany,
        url: last,
      } = await followRedirects(request, (one) => call.fetch(one), { most: MOST_REDIRECTS });
      call.requireTime();
      if ('failure' in answer) {
        call.fail(answer.message, EXITS[answer.failure] ?? NETWORK_EXIT);
        continue;
      }
      if (has('S')) for (const [name, content] of answer.headers) call.warn(`  ${name}: ${content}\n`);
      if (tooMany) call.fail(`${MOST_REDIRECTS} redirections exceeded.`, SERVER_ERROR_EXIT);
      else if (answer.status >= 400) call.fail(`server returned error: HTTP ${answer.status}`, SERVER_ERROR_EXIT);
      if (has('spider') || (answer.status >= 400 && !has('content'))) continue;
      if (output !== null) pieces.push(Buffer.from(answer.body));
      else await save(call, `${value('P') ?? '.'}/${nameOf(last)}`, Buffer.from(answer.body));
    }
    const all = Buffer.concat(pieces);
    if (output === '-') call.print(all);
    else if (output !== null) await save(call, output, all);
    return undefined;
  },
};

function nameOf(url: string): string {
  const name = new URL(url).pathname.split('/').at(-1) ?? '';
  return name === '' ? 'index.html' : decodeURIComponent(name).replaceAll('/', '_');
}

async function save(call: CommandCall, name: string, content: Buffer): Promise<void> {
  try {
    await call.changes.writeFile(call.path(name), content);
  } catch (error) {
    call.fail(`${name}: ${reasonOf(error)}`, FILE_EXIT);
  }
}
