/** `mktemp`. */
import { randomBytes } from 'node:crypto';
import { type CommandCall, marked, type OwnCommand, reasonOf } from './own-command.ts';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const FEWEST = 3;
const ATTEMPTS = 100;

export const mktemp: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'dp:qtuV',
      long: { directory: 'd', 'dry-run': 'u', quiet: 'q', 'suffix=': 'suffix', 'tmpdir=?': 'tmpdir', version: 'V' },
    });
    if (operands.length > 1) call.usage('too many templates');
    const has = (key: string) => options.some((option) => option.key === key);
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const [given] = operands;
    const template = templateOf(call, given ?? 'tmp.XXXXXXXXXX', value('suffix'));
    const temporary = call.context.env.get('TMPDIR') || '/tmp';
    const folder = value('p') ?? value('tmpdir');
    const inside = given === undefined || has('p') || has('tmpdir') || has('t');
    if (has('t') && template.before.includes('/'))
      call.end(`invalid template, ${marked(given ?? '')}, contains directory separator`);
    if (inside && given?.startsWith('/') && !has('t'))
      call.end(`invalid template, ${marked(given)}; with --tmpdir, it may not be absolute`);
    const prefix = inside ? `${(folder || temporary).replace(/(?<=.)\/+$/, '')}/` : '';
    try {
      call.print(`${await makeUnique(call, prefix, template, has('d'), has('u'))}\n`);
      return 0;
    } catch (error) {
      const reason = reasonOf(error);
      const what = has('d') ? 'directory' : 'file';
      const shown = prefix + template.before + 'X'.repeat(template.count) + template.after;
      if (!has('q')) call.fail(`failed to create ${what} via template ${marked(shown)}: ${reason}`);
      return 1;
    }
  },
};

interface Template {
  before: string;
  count: number;
  after: string;
}

function templateOf(call: CommandCall, text: string, suffix: string | null): Template {
  const last = text.lastIndexOf('X');
  if (suffix !== null && !text.endsWith('X')) call.end(`with --suffix, template ${marked(text)} must end in X`);
  const after = text.slice(last + 1) + (suffix ?? '');
  if (after.includes('/')) call.end(`invalid suffix ${marked(after)}, contains directory separator`);
  const head = text.slice(0, last + 1);
  const before = head.replace(/X+$/, '');
  const count = head.length - before.length;
  if (count < FEWEST) call.end(`too few X's in template ${marked(text)}`);
  return { before, count, after };
}

/** Makes a file or directory under a name that is free; with `dry` only finds the name. */
async function makeUnique(
  call: CommandCall,
  prefix: string,
  { before, count, after }: Template,
  directory: boolean,
  dry: boolean,
): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const random = [...randomBytes(count)].map((byte) => LETTERS[byte % LETTERS.length]).join('');
    const name = prefix + before + random + after;
    const path = call.path(name);
    if (call.files.look(path, false) !== null) continue;
    if (dry) return name;
    if (directory) await call.changes.mkdir(path);
    else await call.changes.writeFile(path, new Uint8Array(0));
    await call.changes.chmod(path, directory ? 0o700 : 0o600);
    return name;
  }
  throw Object.assign(new Error(before), { code: 'EEXIST' });
}
