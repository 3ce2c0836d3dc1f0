/** `ln` and `link`. A file has one name here: hard links are refused, as on a disk that lacks them. */
import { Answers } from './answers.ts';
import { type CommandCall, inQuotes, type OwnCommand, reasonOf } from './own-command.ts';
import { relativeName } from './path-names.ts';

const baseOfName = (name: string) => {
  const bare = name.replace(/(?<=.)\/+$/, '');
  return bare.slice(bare.lastIndexOf('/') + 1);
};
const directoryOfPath = (path: string) => path.slice(0, path.lastIndexOf('/')) || '/';

interface Linking {
  symbolic: boolean;
  force: boolean;
  asks: boolean;
  relative: boolean;
  verbose: boolean;
  backup: string | null;
  answers: Answers;
}

export const ln: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'bdFfiLnPrsS:t:Tv',
      long: {
        'backup=?': 'b',
        directory: 'd',
        force: 'f',
        interactive: 'i',
        logical: 'L',
        'no-dereference': 'n',
        'no-target-directory': 'T',
        physical: 'P',
        relative: 'r',
        'suffix=': 'S',
        symbolic: 's',
        'target-directory=': 't',
        verbose: 'v',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const linking: Linking = {
      symbolic: has('s'),
      force: has('f'),
      asks: has('i'),
      relative: has('r'),
      verbose: has('v'),
      backup: has('b') || has('S') ? (options.findLast(({ key }) => key === 'S')?.value ?? '~') : null,
      answers: new Answers(call),
    };
    if (operands.length === 0) call.usage('missing file operand');
    const given = options.findLast(({ key }) => key === 't')?.value ?? null;
    for (const [source, target] of pairsOf(call, operands, given, has('T'), has('n'))) {
      await call.turn();
      try {
        await linkOne(call, source, target, linking);
      } catch (error) {
        const kind = linking.symbolic ? 'symbolic' : 'hard';
        const from = linking.symbolic ? '' : ` => ${inQuotes(source)}`;
        call.fail(`failed to create ${kind} link ${inQuotes(target)}${from}: ${reasonOf(error)}`);
      }
    }
    return undefined;
  },
};

/** Each source with the name of its link. */
function pairsOf(
  call: CommandCall,
  operands: string[],
  given: string | null,
  plain: boolean,
  keepsLink: boolean,
): (readonly [string, string])[] {
  const inside = (directory: string, source: string) =>
    [source, `${directory.replace(/(?<=.)\/+$/, '')}/${baseOfName(source)}`] as const;
  if (given !== null) {
    requireTarget(call, given, 'target directory ');
    return operands.map((source) => inside(given, source));
  }
  const [first = '', second] = operands;
  if (plain) {
    if (second === undefined) call.usage(`missing destination file operand after ${inQuotes(first)}`);
    if (operands.length > 2) call.usage(`extra operand ${inQuotes(operands[2] ?? '')}`);
    return [[first, second]];
  }
  if (second === undefined) return [[first, `./${baseOfName(first)}`]];
  const last = operands.at(-1) ?? '';
  const isDirectory = call.files.isDirectory(call.path(last));
  const isLink = keepsLink && call.files.look(call.path(last), false)?.kind === 'link';
  if (operands.length > 2) requireTarget(call, last, 'target ');
  if (isDirectory && !isLink) return operands.slice(0, -1).map((source) => inside(last, source));
  return [[first, second]];
}

function requireTarget(call: CommandCall, name: string, what: string): void {
  try {
    if (call.files.info(call.path(name)).kind === 'dir') return;
    call.end(`${what}${inQuotes(name)}: Not a directory`);
  } catch (error) {
    call.end(`${what}${inQuotes(name)}: ${reasonOf(error)}`);
  }
}

async function linkOne(call: CommandCall, source: string, target: string, linking: Linking): Promise<void> {
  const path = call.path(target).replace(/(?<=.)\/+$/, '');
  if (!linking.symbolic) {
    const info = lookAt(call, source);
    if (info === null) return;
    if (info === 'dir') {
      call.fail(`${source}: hard link not allowed for directory`);
      return;
    }
  }
  const there = call.files.look(path, false);
  if (there !== null) {
    if (there.kind !== 'dir' && linking.asks && !linking.answers.yes(`ln: replace ${inQuotes(target)}? `)) return;
    if (linking.backup !== null && there.kind !== 'dir') await call.changes.mv(path, path + linking.backup);
    else if (!(linking.force || linking.asks)) throw Object.assign(new Error(target), { code: 'EEXIST' });
    else if (there.kind === 'dir') {
      call.fail(`${target}: cannot overwrite directory`);
      return;
    } else if (linking.symbolic) await call.changes.rm(path);
  }
  if (linking.symbolic) {
    const from = call.files.canonical(directoryOfPath(path));
    await call.changes.symlink(
      linking.relative ? relativeName(from, call.files.canonical(call.path(source))) : source,
      path,
    );
  } else await call.changes.link(call.path(source), path);
  if (linking.verbose) call.print(`${inQuotes(target)} ${linking.symbolic ? '->' : '=>'} ${inQuotes(source)}\n`);
}

/** The kind of the source of a hard link; null when it cannot be read, which is said. */
function lookAt(call: CommandCall, source: string): string | null {
  try {
    return call.files.info(call.path(source), false).kind;
  } catch (error) {
    call.fail(`failed to access ${inQuotes(source)}: ${reasonOf(error)}`);
    return null;
  }
}

export const link: OwnCommand = {
  async main(call: CommandCall) {
    const { operands } = call.options({ letters: '' });
    const [source, target, extra] = operands;
    if (source === undefined) call.usage('missing operand');
    if (target === undefined) call.usage(`missing operand after ‘${source}’`);
    if (extra !== undefined) call.usage(`extra operand ‘${extra}’`);
    try {
      call.files.info(call.path(source), false);
      await call.changes.link(call.path(source), call.path(target));
      return 0;
    } catch (error) {
      call.fail(`cannot create link ${inQuotes(target)} to ${inQuotes(source)}: ${reasonOf(error)}`);
      return 1;
    }
  },
};
