/** `du`. */
import { diskBlocks, type FileStatus } from './command-files.ts';
import { humanSize } from './file-words.ts';
import { globRegex } from './glob.ts';
import { type CommandCall, inQuotes, marked, type OwnCommand, reasonOf } from './own-command.ts';

interface UsageSettings {
  all: boolean;
  apparent: boolean;
  depth: number;
  separate: boolean;
  follow: boolean;
  excluded: RegExp[];
  show: (bytes: number, name: string) => void;
}

export const du: OwnCommand = {
  async main(call: CommandCall) {
    const { options, operands } = call.options({
      letters: '0abB:cd:DHhkLlmPsStxX:',
      long: {
        all: 'a',
        'apparent-size': 'apparent',
        'block-size=': 'B',
        bytes: 'b',
        'count-links': 'l',
        dereference: 'L',
        'exclude=': 'exclude',
        'human-readable': 'h',
        'max-depth=': 'd',
        null: '0',
        'one-file-system': 'x',
        'separate-dirs': 'S',
        si: 'si',
        summarize: 's',
        total: 'c',
      },
    });
    const has = (key: string) => options.some((option) => option.key === key);
    const depth = options.findLast(({ key }) => key === 'd')?.value ?? null;
    if (depth !== null && !/^\d+$/.test(depth)) call.usage(`invalid maximum depth ${marked(depth)}`);
    if (has('s') && has('a')) call.usage('cannot both summarize and show all entries');
    const unit = unitOf(
      call,
      options.findLast(({ key }) => 'bkmhB'.includes(key) || key === 'si'),
    );
    const settings: UsageSettings = {
      all: has('a'),
      apparent: has('apparent') || has('b'),
      depth: has('s') ? 0 : depth === null ? Number.POSITIVE_INFINITY : Number(depth),
      separate: has('S'),
      follow: has('L'),
      excluded: options.flatMap(({ key, value }) => (key === 'exclude' ? [globRegex(value ?? '')] : [])),
      show: (bytes, name) => call.print(`${unit(bytes)}\t${name}${has('0') ? '\0' : '\n'}`),
    };
    let total = 0;
    for (const name of operands.length > 0 ? operands : ['.']) {
      try {
        total += await usageOf(
          call,
          name,
          call.files.info(call.path(name), has('L') || has('D') || has('H')),
          0,
          settings,
        );
      } catch (error) {
        call.fail(`cannot access ${inQuotes(name)}: ${reasonOf(error)}`);
      }
    }
    if (has('c')) settings.show(total, 'total');
    return undefined;
  },
};

function unitOf(
  call: CommandCall,
  option: { key: string; value: string | null } | undefined,
): (bytes: number) => string {
  const by = (size: number) => (bytes: number) => String(Math.ceil(bytes / size));
  switch (option?.key) {
    case 'b':
      return by(1);
    case 'm':
      return by(1024 ** 2);
    case 'h':
      return (bytes) => humanSize(bytes);
    case 'si':
      return (bytes) => humanSize(bytes, 1000);
    case 'B': {
      const found = /^(\d*)([KMG]?)$/.exec(option.value ?? '');
      if (found === null) call.end(`invalid --block-size argument '${option.value ?? ''}'`);
      return by(Number(found[1] || 1) * 1024 ** ' KMG'.indexOf(found[2] || ' '));
    }
    default:
      return by(1024);
  }
}

async function usageOf(
  call: CommandCall,
  name: string,
  info: FileStatus,
  depth: number,
  settings: UsageSettings,
): Promise<number> {
  await call.turn();
  const own = settings.apparent ? info.size : diskBlocks(info) * 512;
  if (info.kind !== 'dir') {
    if (depth === 0 || (settings.all && depth <= settings.depth)) settings.show(own, name);
    return own;
  }
  let [sum, below] = [own, 0];
  const told = (error: unknown) => call.fail(`cannot read directory ${inQuotes(name)}: ${reasonOf(error)}`);
  for (const child of call.files.childrenOr(info.path, told) ?? []) {
    if (settings.excluded.some((glob) => glob.test(child.name))) continue;
    const path = name.endsWith('/') ? name + child.name : `${name}/${child.name}`;
    const followed = settings.follow && child.kind === 'link' ? call.files.look(child.path) : child;
    const size = await usageOf(call, path, followed ?? child, depth + 1, settings);
    if (settings.separate && child.kind === 'dir') below += size;
    else sum += size;
  }
  if (depth <= settings.depth) settings.show(sum, name);
  return sum + below;
}
