/** `mkdir`. */
import { parseMode } from './file-words.ts';
import { type CommandCall, marked, type OwnCommand, reasonOf } from './own-command.ts';

export const mkdir: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'm:pvZ',
      long: { 'context=?': 'Z', 'mode=': 'm', parents: 'p', verbose: 'v' },
    });
    if (operands.length === 0) call.usage('missing operand');
    const has = (key: string) => options.some((option) => option.key === key);
    const given = options.findLast(({ key }) => key === 'm')?.value ?? null;
    const mode = given === null ? null : parseMode(given, 0o777, true);
    if (given !== null && mode === null) call.end(`invalid mode ${marked(given)}`);
    for (const operand of operands) {
      await call.turn();
      const made = has('p') ? await withParents(call, operand, has('v')) : await one(call, operand, has('v'));
      if (made && mode !== null) await call.changes.chmod(call.path(operand), mode);
    }
    return undefined;
  },
};

/** Makes one directory; true when it was made. */
async function one(call: CommandCall, name: string, verbose: boolean): Promise<boolean> {
  try {
    const path = call.path(name);
    if (call.files.look(path, false) !== null) throw Object.assign(new Error(name), { code: 'EEXIST' });
    await call.changes.mkdir(path);
    if (verbose) call.print(`mkdir: created directory '${name}'\n`);
    return true;
  } catch (error) {
    call.fail(`cannot create directory ${marked(name)}: ${reasonOf(error)}`);
    return false;
  }
}

/** Makes a directory and those above it; true when the last one was made. */
async function withParents(call: CommandCall, operand: string, verbose: boolean): Promise<boolean> {
  const parts = operand.split('/');
  for (let end = 1; end <= parts.length; end += 1) {
    const name = parts.slice(0, end).join('/');
    if (name === '' || parts[end - 1] === '') continue;
    const last = parts.slice(end).every((part) => part === '');
    try {
      const there = call.files.look(call.path(name));
      if (there?.kind === 'dir') {
        if (last) return false;
        continue;
      }
      if (there !== null) throw Object.assign(new Error(name), { code: last ? 'EEXIST' : 'ENOTDIR' });
      await call.changes.mkdir(call.path(name));
      if (verbose) call.print(`mkdir: created directory '${name}'\n`);
      if (last) return true;
    } catch (error) {
      call.fail(`cannot create directory ${marked(name)}: ${reasonOf(error)}`);
      return false;
    }
  }
  return false;
}
