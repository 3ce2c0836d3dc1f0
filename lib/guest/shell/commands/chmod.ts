/** `chmod`, and `chown` and `chgrp`, which have nothing to change: everything belongs to one user. */
import type { FileStatus } from './command-files.ts';
import { OWNER, parseMode, permissionLetters } from './file-words.ts';
import { type CommandCall, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';

/** A mode that looks like options, as `-x` and `-rw`. */
const MODE_LIKE_OPTIONS = /^-[rwxXst,=+ugoa-]+$/;

const octal = (mode: number) => mode.toString(8).padStart(4, '0');

export const chmod: OwnCommand = {
  async main(call: CommandCall) {
    const at = call.args.findIndex((arg) => MODE_LIKE_OPTIONS.test(arg) && arg !== '--');
    const taken = at === -1 ? null : (call.args[at] ?? null);
    if (at !== -1) call.args.splice(at, 1);
    const { options, operands } = call.options({
      letters: 'cfRv',
      long: {
        changes: 'c',
        'no-preserve-root': 'no-preserve-root',
        'preserve-root': 'preserve-root',
        quiet: 'f',
        recursive: 'R',
        'reference=': 'reference',
        silent: 'f',
        verbose: 'v',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const reference = options.findLast(({ key }) => key === 'reference')?.value ?? null;
    const files = [...operands];
    const text = taken ?? (reference === null ? files.shift() : undefined);
    if (text === undefined && reference === null) call.usage('missing operand');
    if (files.length === 0)
      call.usage(text === undefined ? 'missing operand' : `missing operand after ${marked(text)}`);
    if (text !== undefined && parseMode(text, 0, false) === null) call.usage(`invalid mode: ${marked(text)}`);
    const fixed = reference === null ? null : referenceMode(call, reference);
    const modeOf = (info: FileStatus) => fixed ?? parseMode(text ?? '', info.mode, info.kind === 'dir') ?? info.mode;
    const change = async (name: string, info: FileStatus): Promise<void> => {
      await call.turn();
      const mode = modeOf(info);
      await call.changes.chmod(info.path, mode);
      if (has('v') || (has('c') && mode !== info.mode)) call.print(told(name, info.mode, mode));
      if (!has('R') || info.kind !== 'dir') return;
      const unread = (error: unknown) => call.fail(`cannot read directory ${inQuotes(name)}: ${reasonOf(error)}`);
      for (const child of call.files.childrenOr(info.path, unread) ?? [])
        if (child.kind !== 'link') await change(`${name.replace(/(?<=.)\/+$/, '')}/${child.name}`, child);
    };
    for (const name of files) {
      try {
        await change(name, call.files.info(call.path(name)));
      } catch (error) {
        const reason = reasonOf(error);
        const denied = reason === 'Read-only file system';
        if (has('f')) call.exitCode = 1;
        else call.fail(`${denied ? 'changing permissions of' : 'cannot access'} ${inQuotes(name)}: ${reason}`);
      }
    }
    return undefined;
  },
};

function referenceMode(call: CommandCall, reference: string): number {
  try {
    return call.files.info(call.path(reference)).mode;
  } catch (error) {
    return call.end(`failed to get attributes of ${inQuotes(reference)}: ${reasonOf(error)}`);
  }
}

function told(name: string, before: number, after: number): string {
  const shown = (mode: number) => `${octal(mode)} (${permissionLetters(mode)})`;
  if (before === after) return `mode of ${inQuotes(name)} retained as ${shown(after)}\n`;
  return `mode of ${inQuotes(name)} changed from ${shown(before)} to ${shown(after)}\n`;
}

function ownerCommand(what: 'ownership' | 'group'): OwnCommand {
  return {
    async main(call: CommandCall) {
      const { options, operands } = call.options({
        letters: 'cfhHLPRv',
        long: {
          changes: 'c',
          dereference: 'dereference',
          'from=': 'from',
          'no-dereference': 'h',
          'no-preserve-root': 'no-preserve-root',
          'preserve-root': 'preserve-root',
          quiet: 'f',
          recursive: 'R',
          'reference=': 'reference',
          silent: 'f',
          verbose: 'v',
        },
      });
      const has = (key: string) => options.some((option) => option.key === key);
      const files = [...operands];
      const owner = has('reference') ? OWNER.name : files.shift();
      if (owner === undefined) call.usage('missing operand');
      if (files.length === 0) call.usage(`missing operand after ${marked(owner)}`);
      const names = what === 'group' ? [owner] : owner.split(/[:.]/);
      const known = [OWNER.name, String(OWNER.id), '', 'root', '0'];
      const unknown = names.find((name) => !known.includes(name) && !/^\d+$/.test(name));
      if (unknown !== undefined) call.end(`invalid ${what === 'group' ? 'group' : 'user'}: ${marked(owner)}`);
      const own = names.every((name) => [OWNER.name, String(OWNER.id), ''].includes(name));
      for (const name of files) {
        await call.turn();
        try {
          call.files.info(call.path(name), !has('h'));
          if (own || has('f')) call.exitCode = own ? call.exitCode : 1;
          else call.fail(`changing ${what} of ${inQuotes(name)}: Operation not permitted`);
        } catch (error) {
          call.fail(`cannot access ${inQuotes(name)}: ${reasonOf(error)}`);
        }
      }
      return undefined;
    },
  };
}

export const chown = ownerCommand('ownership');
export const chgrp = ownerCommand('group');
