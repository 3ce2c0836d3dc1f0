/** `realpath`, `readlink`, `basename` and `dirname`: names of files, with and without their links. */
import { normalizePath } from '../guest-paths.ts';
import { type CommandCall, marked, type OwnCommand, reasonOf } from './own-command.ts';

/** What must exist: all of a path, all but its last part, or nothing of it. */
type Existence = 'all' | 'above' | 'nothing';

const above = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/';

/** The path without links. Throws POSIX errors for what must exist and does not. */
function canonical(call: CommandCall, operand: string, existence: Existence): string {
  const path = call.files.canonical(call.path(operand));
  if (existence === 'nothing') return path;
  if (existence === 'all' || operand.endsWith('/')) call.files.info(operand.endsWith('/') ? `${path}/` : path);
  else if (call.files.look(path) === null) call.files.info(`${above(path)}/`);
  return path;
}

/** The way from a directory to a path. */
export function relativeName(from: string, to: string): string {
  const [start, end] = [from, to].map((path) => path.split('/').filter((part) => part !== ''));
  const [starts, ends] = [start ?? [], end ?? []];
  let shared = 0;
  while (shared < starts.length && shared < ends.length && starts[shared] === ends[shared]) shared += 1;
  return [...starts.slice(shared).map(() => '..'), ...ends.slice(shared)].join('/') || '.';
}

function relativeTo(path: string, to: string | undefined, base: string | undefined): string {
  const within = (directory: string) =>
    path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`);
  if (base !== undefined && !within(base)) return path;
  const from = to ?? base;
  return from === undefined ? path : relativeName(from, path);
}

export const realpath: OwnCommand = {
  main(call) {
    const { options, operands } = call.options({
      letters: 'emLPqsz',
      long: {
        'canonicalize-existing': 'e',
        'canonicalize-missing': 'm',
        logical: 'L',
        'no-symlinks': 's',
        physical: 'P',
        quiet: 'q',
        'relative-base=': 'base',
        'relative-to=': 'to',
        strip: 's',
        zero: 'z',
      },
    });
    if (operands.length === 0) call.usage('missing operand');
    const has = (key: string) => options.some((option) => option.key === key);
    const existence = options.findLast(({ key }) => key === 'e' || key === 'm')?.key;
    const must: Existence = existence === 'e' ? 'all' : existence === 'm' ? 'nothing' : 'above';
    const named = (operand: string) => {
      if (!has('s')) return canonical(call, operand, must);
      const path = normalizePath(operand, call.cwd);
      if (must === 'all') call.files.info(path, false);
      if (must === 'above') call.files.info(above(path));
      return path;
    };
    const directory = (key: string) => {
      const value = options.findLast((option) => option.key === key)?.value;
      return typeof value === 'string' ? named(value) : undefined;
    };
    for (const operand of operands) {
      try {
        const path = operand === '' ? call.files.info('/nothing/here').path : named(operand);
        call.print(relativeTo(path, directory('to'), directory('base')) + (has('z') ? '\0' : '\n'));
      } catch (error) {
        const reason = reasonOf(error);
        if (has('q')) call.exitCode = 1;
        else call.fail(`${operand === '' ? "''" : operand}: ${reason}`);
      }
    }
    return undefined;
  },
};

export const readlink: OwnCommand = {
  main(call) {
    const { options, operands } = call.options({
      letters: 'efmnqsvz',
      long: {
        canonicalize: 'f',
        'canonicalize-existing': 'e',
        'canonicalize-missing': 'm',
        'no-newline': 'n',
        quiet: 'q',
        silent: 's',
        verbose: 'v',
        zero: 'z',
      },
    });
    if (operands.length === 0) call.usage('missing operand');
    const has = (key: string) => options.some((option) => option.key === key);
    const mode = options.findLast(({ key }) => 'efm'.includes(key))?.key;
    const end = has('z') ? '\0' : has('n') && operands.length === 1 ? '' : '\n';
    for (const operand of operands) {
      try {
        if (mode === undefined) {
          const info = call.files.info(call.path(operand), false);
          if (info.kind !== 'link') throw Object.assign(new Error(operand), { code: 'EINVAL' });
          call.print(`${info.target ?? ''}${end}`);
        } else call.print(canonical(call, operand, mode === 'e' ? 'all' : mode === 'm' ? 'nothing' : 'above') + end);
      } catch (error) {
        const reason = reasonOf(error);
        if (has('v')) call.fail(`${operand}: ${reason}`);
        else call.exitCode = 1;
      }
    }
    return undefined;
  },
};

export const basename: OwnCommand = {
  main(call) {
    const { options, operands } = call.options({
      letters: 'as:z',
      long: { multiple: 'a', 'suffix=': 's', zero: 'z' },
      stopAtOperand: true,
    });
    if (operands.length === 0) call.usage('missing operand');
    const has = (key: string) => options.some((option) => option.key === key);
    const several = has('a') || has('s');
    if (!several && operands.length > 2) call.usage(`extra operand ${marked(operands[2] ?? '')}`);
    const suffix = several ? (options.findLast(({ key }) => key === 's')?.value ?? '') : (operands[1] ?? '');
    for (const operand of several ? operands : operands.slice(0, 1)) {
      const bare = operand.replace(/(?<=.)\/+$/, '');
      const name = /^\/+$/.test(bare) ? '/' : bare.slice(bare.lastIndexOf('/') + 1);
      const cut = suffix !== '' && name !== suffix && name.endsWith(suffix) ? name.slice(0, -suffix.length) : name;
      call.print(cut + (has('z') ? '\0' : '\n'));
    }
    return undefined;
  },
};

export const dirname: OwnCommand = {
  main(call) {
    const { options, operands } = call.options({ letters: 'z', long: { zero: 'z' } });
    if (operands.length === 0) call.usage('missing operand');
    const end = options.length > 0 ? '\0' : '\n';
    for (const operand of operands) {
      const bare = operand.replace(/(?<=.)\/+$/, '');
      const slash = bare.lastIndexOf('/');
      const name = slash === -1 ? (/^\/+$/.test(operand) ? '/' : '.') : bare.slice(0, slash).replace(/\/+$/, '') || '/';
      call.print(name + end);
    }
    return undefined;
  },
};
