/** `rm`, `rmdir` and `unlink`. */
import { Answers } from './answers.ts';
import type { FileStatus } from './command-files.ts';
import { kindWords } from './file-words.ts';
import { type CommandCall, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';

interface Removal {
  force: boolean;
  recursive: boolean;
  emptyDirectories: boolean;
  verbose: boolean;
  /** Asks before each removal. */
  asks: boolean;
  answers: Answers;
}

export const rm: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'dfiIrRv',
      long: {
        dir: 'd',
        force: 'f',
        'interactive=?': 'interactive',
        'no-preserve-root': 'no-preserve-root',
        'one-file-system': 'one-file-system',
        'preserve-root=?': 'preserve-root',
        recursive: 'r',
        verbose: 'v',
      },
    });
    const has = (...keys: string[]) => options.some(({ key }) => keys.includes(key));
    const last = options.findLast(({ key }) => ['f', 'i', 'I', 'interactive'].includes(key));
    const always = last?.key === 'i' || (last?.key === 'interactive' && ['always', 'yes', null].includes(last.value));
    const removal: Removal = {
      force: last?.key === 'f',
      recursive: has('r', 'R'),
      emptyDirectories: has('d'),
      verbose: has('v'),
      asks: always,
      answers: new Answers(call),
    };
    if (operands.length === 0 && !has('f')) call.usage('missing operand');
    const once = last?.key === 'I' || (last?.key === 'interactive' && last.value === 'once');
    if (once && (removal.recursive || operands.length > 3)) {
      const count = `${operands.length} argument${operands.length === 1 ? '' : 's'}`;
      if (!removal.answers.yes(`rm: remove ${count}${removal.recursive ? ' recursively' : ''}? `)) return 0;
    }
    for (const operand of operands) {
      await call.turn();
      await removeOperand(call, operand, removal, has('no-preserve-root'));
    }
    return undefined;
  },
};

async function removeOperand(call: CommandCall, operand: string, removal: Removal, root: boolean): Promise<void> {
  const path = call.path(operand);
  if (/(?:^|\/)\.{1,2}\/*$/.test(operand) && removal.recursive) {
    call.fail(`refusing to remove '.' or '..' directory: skipping '${operand}'`);
    return;
  }
  if (path === '/' && removal.recursive && !root) {
    call.fail("it is dangerous to operate recursively on '/'");
    call.warn('rm: use --no-preserve-root to override this failsafe\n');
    return;
  }
  try {
    const info = call.files.look(path, false);
    if (info === null) {
      if (!removal.force) call.fail(`cannot remove ${inQuotes(operand)}: No such file or directory`);
      return;
    }
    const bare = call.files.look(path.replace(/(?<=.)\/+$/, ''), false);
    // A link to a directory is no directory, and what it leads to stays.
    if (bare?.kind === 'link' && info.kind !== 'link') {
      call.fail(`cannot remove ${inQuotes(operand)}: Not a directory`);
      return;
    }
    await removeOne(call, operand, info, removal);
  } catch (error) {
    const reason = reasonOf(error);
    // What lies below a file does not exist.
    if (!(removal.force && reason === 'Not a directory')) call.fail(`cannot remove ${inQuotes(operand)}: ${reason}`);
  }
}

/** Removes a file, or a directory and what is in it; true when it is gone. */
async function removeOne(call: CommandCall, name: string, info: FileStatus, removal: Removal): Promise<boolean> {
  const path = info.path;
  if (info.kind !== 'dir') {
    if (removal.asks && !removal.answers.yes(`rm: remove ${kindWords(info)} ${inQuotes(name)}? `)) return false;
    await call.changes.rm(path);
    if (removal.verbose) call.print(`removed ${inQuotes(name)}\n`);
    return true;
  }
  if (!removal.recursive) {
    if (!removal.emptyDirectories) throw Object.assign(new Error(name), { code: 'EISDIR' });
    await call.changes.rm(path);
    if (removal.verbose) call.print(`removed directory ${inQuotes(name)}\n`);
    return true;
  }
  const isRoot = info.address?.path === '/';
  if (!removal.asks && !removal.verbose && !isRoot) {
    await call.changes.rm(path, { recursive: true });
    return true;
  }
  const children = call.files.children(path);
  if (removal.asks && children.length > 0 && !removal.answers.yes(`rm: descend into directory ${inQuotes(name)}? `))
    return false;
  let isEmpty = true;
  for (const child of children) {
    await call.turn();
    const below = name.endsWith('/') ? name + child.name : `${name}/${child.name}`;
    if (!(await removeOne(call, below, child, removal))) isEmpty = false;
  }
  if (!isEmpty) return false;
  if (removal.asks && !removal.answers.yes(`rm: remove directory ${inQuotes(name)}? `)) return false;
  await call.changes.rm(path);
  if (removal.verbose) call.print(`removed directory ${inQuotes(name)}\n`);
  return true;
}

export const rmdir: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'pv',
      long: { 'ignore-fail-on-non-empty': 'ignore', parents: 'p', verbose: 'v' },
    });
    if (operands.length === 0) call.usage('missing operand');
    const has = (key: string) => options.some((option) => option.key === key);
    for (const operand of operands) {
      for (let name = operand.replace(/(?<=.)\/+$/, ''); name !== '' && name !== '.'; ) {
        if (has('v')) call.print(`rmdir: removing directory, ${inQuotes(name)}\n`);
        try {
          const info = call.files.info(call.path(name), false);
          if (info.kind !== 'dir') throw Object.assign(new Error(name), { code: 'ENOTDIR' });
          await call.changes.rm(call.path(name));
        } catch (error) {
          const reason = reasonOf(error);
          const ignored = has('ignore') && reason === 'Directory not empty';
          const what = name === operand.replace(/(?<=.)\/+$/, '') ? '' : 'directory ';
          if (!ignored) call.fail(`failed to remove ${what}${inQuotes(name)}: ${reason}`);
          break;
        }
        if (!has('p') || !name.includes('/')) break;
        name = name.slice(0, name.lastIndexOf('/')).replace(/\/+$/, '');
      }
    }
    return undefined;
  },
};

export const unlink: OwnCommand = {
  async main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    const [operand, extra] = operands;
    if (operand === undefined) call.usage('missing operand');
    if (extra !== undefined) call.usage(`extra operand ${marked(extra)}`);
    try {
      const info = call.files.info(call.path(operand), false);
      if (info.kind === 'dir') throw Object.assign(new Error(operand), { code: 'EISDIR' });
      await call.changes.rm(info.path);
      return 0;
    } catch (error) {
      call.fail(`cannot unlink ${inQuotes(operand)}: ${reasonOf(error)}`);
      return 1;
    }
  },
};
