/**
 * What a customer says, as filters: `ada@example.com 2026-11-22 tenant:acme env:prod march`. Days and `key:value` are
 * taken out; what is left is searched for in ids, names, tenants and labels. Pure.
 */
import { parseMoment } from '#components/ui/moments.ts';

export interface DeskReading {
  q?: string;
  tenant?: string;
  /** `key:value`. */
  label?: string;
  /** Days, or months, as addresses have them. */
  since?: string;
  until?: string;
}

const DAY_MS = 86_400_000;
const MONTHS = ['january', 'february', 'march', 'april', 'may', 'june', 'july', 'august', 'september', 'october'];
const MONTH_NAMES: readonly string[] = [...MONTHS, 'november', 'december'];

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}

function span(since: string, until: string): Pick<DeskReading, 'since' | 'until'> | null {
  return parseMoment(since, 'first') === null || parseMoment(until, 'last') === null ? null : { since, until };
}

function monthSpan(year: number, month: number): Pick<DeskReading, 'since' | 'until'> | null {
  if (month < 1 || month > 12) return null;
  return span(dayOf(Date.UTC(year, month - 1, 1)), dayOf(Date.UTC(year, month, 0)));
}

/** The days that a word or several mean, or null. `now`: epoch seconds. */
function daysOf(words: string, now: number): Pick<DeskReading, 'since' | 'until'> | null {
  const today = now * 1000;
  if (words === 'today') return span(dayOf(today), dayOf(today));
  if (words === 'yesterday') return span(dayOf(today - DAY_MS), dayOf(today - DAY_MS));
  if (words === 'last week') return span(dayOf(today - 7 * DAY_MS), dayOf(today));
  if (words === 'last month') return span(dayOf(today - 31 * DAY_MS), dayOf(today));
  const [, iso] = /^(\d{4}-\d{2}-\d{2})$/.exec(words) ?? [];
  if (iso !== undefined) return span(iso, iso);
  const [, year, month] = /^(\d{4})-(\d{2})$/.exec(words) ?? [];
  if (year !== undefined) return monthSpan(Number(year), Number(month));
  // 22.11.2026: the day first. With slashes nobody knows which comes first.
  const [, day, of, full] = /^(\d{1,2})\.(\d{1,2})\.(\d{4})$/.exec(words) ?? [];
  if (full !== undefined) {
    const text = `${full}-${String(of).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
    return span(text, text);
  }
  const [, name = '', named] = /^([a-z]+) (\d{4})$/.exec(words) ?? [];
  const at = MONTH_NAMES.indexOf(name);
  return at < 0 ? null : monthSpan(Number(named), at + 1);
}

/** Reads the text. A day or a pair that is there twice is searched for like any other word. `now`: epoch seconds. */
export function readDeskText(text: string, now: number): DeskReading {
  const reading: DeskReading = {};
  const words: string[] = [];
  const terms = text.trim().split(/\s+/);
  for (let at = 0; at < terms.length; at += 1) {
    const term = terms[at] ?? '';
    const pair = `${term} ${terms[at + 1] ?? ''}`.toLowerCase();
    if (reading.since === undefined) {
      const two = daysOf(pair, now);
      const days = two ?? daysOf(term.toLowerCase(), now);
      if (days !== null) {
        Object.assign(reading, days);
        if (two !== null) at += 1;
        continue;
      }
    }
    const [, key = '', value = ''] = /^([^:=]+)[:=](.+)$/.exec(term) ?? [];
    // An address on the web has a colon too.
    const isPair = value !== '' && !value.startsWith('//');
    if (isPair && key.toLowerCase() === 'tenant' && reading.tenant === undefined) reading.tenant = value.toLowerCase();
    else if (isPair && reading.label === undefined && key.toLowerCase() !== 'tenant') {
      reading.label = key.toLowerCase() === 'label' ? value.replace('=', ':') : `${key}:${value}`;
    } else words.push(term);
  }
  const q = words.join(' ');
  return q === '' ? reading : { ...reading, q };
}

/** How a text was read, where it was not simply searched for; null otherwise. */
export function readingInWords({ q, tenant, label, since, until }: DeskReading): string | null {
  if (tenant === undefined && label === undefined && since === undefined) return null;
  return [
    q === undefined ? null : `“${q}” in ids, names, tenants and labels`,
    tenant === undefined ? null : `the tenant ${tenant}`,
    label === undefined ? null : `the label ${label}`,
    since === undefined ? null : since === until ? `filed on ${since}` : `filed from ${since} to ${until}`,
  ]
    .filter((part) => part !== null)
    .join(', ');
}
