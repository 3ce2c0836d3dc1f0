/** `mv`. */
import { Answers } from './answers.ts';
import type { FileStatus } from './command-files.ts';
import { copyTargets, withoutSlash } from './file-copy.ts';
import { type CommandCall, inQuotes, type OwnCommand, reasonOf } from './own-command.ts';

interface MoveSettings {
  noClobber: boolean;
  asks: boolean;
  update: boolean;
  verbose: boolean;
  backup: string | null;
  answers: Answers;
}

export const mv: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'bfinS:t:TuvZ',
      long: {
        'backup=?': 'b',
        context: 'Z',
        force: 'f',
        interactive: 'i',
        'no-clobber': 'n',
        'no-target-directory': 'T',
        'strip-trailing-slashes': 'strip',
        'suffix=': 'S',
        'target-directory=': 't',
        update: 'u',
        verbose: 'v',
      },
    });
    const has = (...keys: string[]) => options.some(({ key }) => keys.includes(key));
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const last = options.findLast(({ key }) => 'fin'.includes(key))?.key;
    const settings: MoveSettings = {
      noClobber: last === 'n',
      asks: last === 'i',
      update: has('u'),
      verbose: has('v'),
      backup: has('b', 'S') ? (value('S') ?? '~') : null,
      answers: new Answers(call),
    };
    const targets = copyTargets(call, operands.map(has('strip') ? withoutSlash : (one) => one), {
      directory: value('t'),
      plain: has('T'),
    });
    for (const [source, target] of targets) {
      await call.turn();
      try {
        await moveOne(call, source, target, settings);
      } catch (error) {
        call.fail(`cannot move ${inQuotes(source)} to ${inQuotes(target)}: ${reasonOf(error)}`);
      }
    }
    return undefined;
  },
};

async function moveOne(call: CommandCall, source: string, target: string, settings: MoveSettings): Promise<void> {
  let info: FileStatus;
  try {
    info = call.files.info(withoutSlash(call.path(source)), false);
  } catch (error) {
    call.fail(`cannot stat ${inQuotes(source)}: ${reasonOf(error)}`);
    return;
  }
  const path = withoutSlash(call.path(target));
  if (target.endsWith('/') && info.kind !== 'dir' && !call.files.isDirectory(path))
    throw Object.assign(new Error(target), { code: 'ENOTDIR' });
  const there = call.files.look(path, false);
  if (there?.path === info.path) {
    call.fail(`${inQuotes(source)} and ${inQuotes(target)} are the same file`);
    return;
  }
  if (info.kind === 'dir' && `${call.files.canonical(path)}/`.startsWith(`${info.path}/`)) {
    call.fail(`cannot move ${inQuotes(source)} to a subdirectory of itself, ${inQuotes(target)}`);
    return;
  }
  if (there !== null && !(await givesWay(call, source, info, target, there, settings))) return;
  await call.changes.mv(info.path, there?.path ?? path);
  if (settings.verbose) call.print(`renamed ${inQuotes(source)} -> ${inQuotes(target)}\n`);
}

/** Whether what is at the target may be replaced. */
async function givesWay(
  call: CommandCall,
  source: string,
  info: FileStatus,
  target: string,
  there: FileStatus,
  settings: MoveSettings,
): Promise<boolean> {
  if (settings.noClobber) return false;
  if (settings.update && there.mtime >= info.mtime) return false;
  if (settings.asks && !settings.answers.yes(`mv: overwrite ${inQuotes(target)}? `)) {
    call.exitCode = 1;
    return false;
  }
  if (settings.backup !== null) {
    await call.changes.mv(there.path, there.path + settings.backup);
    return true;
  }
  if (there.kind === 'dir' && info.kind !== 'dir') {
    call.fail(`cannot overwrite directory ${inQuotes(target)} with non-directory`);
    return false;
  }
  if (there.kind !== 'dir' && info.kind === 'dir') {
    call.fail(`cannot overwrite non-directory ${inQuotes(target)} with directory ${inQuotes(source)}`);
    return false;
  }
  return true;
}
