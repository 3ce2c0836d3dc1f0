/** The options of `mapfile` in the forms that just-bash knows (patches/bash-input-patches.ts). Pure. */

const WITH_VALUE = 'dnOsuCc';
const USAGE =
  'mapfile: usage: mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]\n';

/** What `mapfile` is to do, or what it says in place of that. `descriptor`: what it reads, if not its input. */
type MapfileOptions =
  | { args: string[]; descriptor: number | undefined; error?: undefined }
  | { error: string; exitCode: number };

export function mapfileOptions(given: readonly string[]): MapfileOptions {
  const args: string[] = [];
  let descriptor: number | undefined;
  const words = [...given];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--' || !/^-./.test(word)) {
      args.push(...(word === '--' ? [] : [word]), ...words);
      break;
    }
    for (let rest = word.slice(1); rest !== ''; ) {
      const letter = rest[0] ?? '';
      rest = rest.slice(1);
      if (letter === 't') args.push('-t');
      else if (!WITH_VALUE.includes(letter))
        return { error: `bash: mapfile: -${letter}: invalid option\n${USAGE}`, exitCode: 2 };
      else {
        const value = rest === '' ? words.shift() : rest;
        rest = '';
        if (value === undefined)
          return { error: `bash: mapfile: -${letter}: option requires an argument\n${USAGE}`, exitCode: 2 };
        if (letter === 'C')
          return { error: 'bash: mapfile: -C: callbacks are not supported in this sandbox\n', exitCode: 2 };
        if (letter === 'u') {
          if (!/^\d{1,9}$/.test(value))
            return { error: `bash: mapfile: ${value}: invalid file descriptor specification\n`, exitCode: 1 };
          descriptor = Number(value);
        } else if (letter !== 'c') args.push(`-${letter}`, value);
      }
    }
  }
  return { args, descriptor };
}
