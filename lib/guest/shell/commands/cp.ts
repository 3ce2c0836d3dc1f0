/** `cp`. */
import { Answers } from './answers.ts';
import { type CopySettings, copyTargets, copyTo, withoutSlash } from './file-copy.ts';
import { type CommandCall, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';

export const cp: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: 'abdfHiLlnPpRrsS:t:TuvxZ',
      long: {
        archive: 'a',
        'attributes-only': 'attributes-only',
        'backup=?': 'b',
        'context=?': 'Z',
        'copy-contents': 'copy-contents',
        dereference: 'L',
        force: 'f',
        interactive: 'i',
        link: 'l',
        'no-clobber': 'n',
        'no-dereference': 'P',
        'no-preserve=': 'no-preserve',
        'no-target-directory': 'T',
        'one-file-system': 'x',
        parents: 'parents',
        'preserve=?': 'preserve',
        recursive: 'r',
        'reflink=?': 'reflink',
        'remove-destination': 'remove-destination',
        'sparse=': 'sparse',
        'strip-trailing-slashes': 'strip',
        'suffix=': 'S',
        'symbolic-link': 's',
        'target-directory=': 't',
        update: 'u',
        verbose: 'v',
      },
    });
    const has = (...keys: string[]) => options.some(({ key }) => keys.includes(key));
    const value = (key: string) => options.findLast((option) => option.key === key)?.value ?? null;
    const recursive = has('r', 'R', 'a');
    const links = options.findLast(({ key }) => 'LHPda'.includes(key))?.key;
    const kept = has('preserve') ? (value('preserve') ?? 'mode,timestamps').split(',') : [];
    const dropped = (value('no-preserve') ?? '').split(',');
    const preserves = (what: string) =>
      !dropped.includes(what) &&
      !dropped.includes('all') &&
      (has('a', 'p') || kept.includes(what) || kept.includes('all'));
    const known = ['mode', 'timestamps', 'ownership', 'links', 'context', 'xattr', 'all'];
    const unknown = [...kept, ...dropped].find((one) => one !== '' && !known.includes(one));
    if (unknown !== undefined) call.usage(`invalid argument ${marked(unknown)} for ${marked('--preserve')}`);
    const settings: CopySettings = {
      recursive,
      links: linksOf(links, recursive),
      preserveTime: preserves('timestamps'),
      preserveMode: preserves('mode'),
      noClobber: options.findLast(({ key }) => key === 'n' || key === 'i')?.key === 'n',
      update: has('u'),
      asks: options.findLast(({ key }) => key === 'n' || key === 'i')?.key === 'i',
      verbose: has('v'),
      removeFirst: has('remove-destination') || (has('f') && has('s', 'l')),
      force: has('f'),
      backup: has('b', 'S') ? (value('S') ?? '~') : null,
      makes: has('s') ? 'symbolic' : has('l') ? 'hard' : 'copy',
      onlyAttributes: has('attributes-only'),
      answers: new Answers(call),
    };
    const sources = has('strip') ? operands.map(withoutSlash) : operands;
    const targets = copyTargets(call, sources, { directory: value('t'), plain: has('T') });
    for (const [source, target] of targets) {
      if (!has('parents')) await copyTo(call, source, target, settings);
      else await withParents(call, source, value('t') ?? operands.at(-1) ?? '', settings);
    }
    return undefined;
  },
};

function linksOf(last: string | undefined, recursive: boolean): CopySettings['links'] {
  if (last === 'L') return 'follow';
  if (last === 'H') return 'below';
  if (last !== undefined) return 'keep';
  return recursive ? 'keep' : 'follow';
}

/** Copies a source below the target directory with the directories of its name. */
async function withParents(
  call: CommandCall,
  source: string,
  directory: string,
  settings: CopySettings,
): Promise<void> {
  const parts = withoutSlash(source)
    .split('/')
    .filter((part) => part !== '');
  let target = withoutSlash(directory);
  for (const [at, part] of parts.slice(0, -1).entries()) {
    target = `${target}/${part}`;
    try {
      if (call.files.look(call.path(target)) !== null) continue;
      await call.changes.mkdir(call.path(target));
      if (settings.verbose) call.print(`${parts.slice(0, at + 1).join('/')} -> ${target}\n`);
    } catch (error) {
      call.fail(`cannot make directory ${inQuotes(target)}: ${reasonOf(error)}`);
      return;
    }
  }
  await copyTo(call, source, `${target}/${parts.at(-1) ?? ''}`, settings);
}
