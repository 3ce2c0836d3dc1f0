/**
 * What `time` says of a pipeline: the time that went by and the processor's, as `TIMEFORMAT` asks for it. Called by
 * just-bash's interpreter as it is patched (bash-language-patches.ts).
 */
import { monotonicMs } from '../../workers/protocol/monotonic.ts';

/** When a pipeline began. */
interface Begun {
  ms: number;
  cpu: NodeJS.CpuUsage;
}

const USUAL = '\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS';
const POSIX = 'real %2R\nuser %2U\nsys %2S';
const MAX_DIGITS = 3;
const MINUTE = 60;
const cpuUsage = process.cpuUsage.bind(process);

export function begin(): Begun {
  return { ms: monotonicMs(), cpu: cpuUsage() };
}

/** The words for a pipeline that has ended. `format`: TIMEFORMAT, where it is set; `isPosix`: `time -p`. */
export function spent({ ms, cpu }: Begun, format: string | undefined, isPosix: boolean): string {
  const { user, system } = cpuUsage(cpu);
  // What a shell starts runs in its own process: all of it is the pipeline's.
  const seconds = { R: (monotonicMs() - ms) / 1000, U: user / 1e6, S: system / 1e6 };
  return formatted(isPosix ? POSIX : (format ?? USUAL), seconds);
}

function formatted(format: string, seconds: Readonly<Record<'R' | 'U' | 'S', number>>): string {
  if (format === '') return '';
  let words = '';
  for (let at = 0; at < format.length; at += 1) {
    const char = format[at] ?? '';
    if (char !== '%' || at === format.length - 1) {
      words += char;
      continue;
    }
    const [whole = '%', digits = '', isLong = '', kind = ''] = /^%(\d?)(l?)(.?)/s.exec(format.slice(at)) ?? [];
    at += whole.length - 1;
    if (kind === 'R' || kind === 'U' || kind === 'S')
      words += timeText(seconds[kind], digits === '' ? MAX_DIGITS : Number(digits), isLong !== '');
    else if (whole === '%%') words += '%';
    else if (whole === '%P') {
      const share = seconds.R === 0 ? 0 : ((seconds.U + seconds.S) * 100) / seconds.R;
      words += (Math.floor(share * 100) / 100).toFixed(2);
    } else return `bash: TIMEFORMAT: \`${kind}': invalid format character\n`;
  }
  return `${words}\n`;
}

function timeText(seconds: number, digits: number, isLong: boolean): string {
  const shown = Math.min(digits, MAX_DIGITS);
  const thousandths = Math.round(seconds * 1000);
  const parts = String(thousandths % 1000).padStart(MAX_DIGITS, '0');
  const fraction = shown === 0 ? '' : `.${parts.slice(0, shown)}`;
  const whole = Math.floor(thousandths / 1000);
  return isLong ? `${Math.floor(whole / MINUTE)}m${whole % MINUTE}${fraction}s` : `${whole}${fraction}`;
}
