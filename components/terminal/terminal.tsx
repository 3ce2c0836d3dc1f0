'use client';
import { use, useCallback, useEffect, useId, useReducer, useRef, useState } from 'react';
import type { SandboxTerminal } from '#lib/contract/schema.ts';
/**
 * The terminals of one sandbox: the plain form, replaced by an emulator on the terminals of the server where JavaScript
 * runs. Several are tabs. Opening one wakes nothing.
 */
import { callMark } from '../calls/call-mark.ts';
import { readInstance } from '../live/cache.ts';
import { CacheContext } from '../live/live-data.tsx';
import { writeTerminalSandbox } from '../palette/recent.ts';
import { Elapsed } from '../ui/elapsed.tsx';
import { closeTerminal, openTerminal, terminalsOf } from './kept-terminal.ts';
import { type ExecAction, PlainForm } from './plain-form.tsx';
import { LANGUAGE_NAMES, type Language } from './run-words.ts';
import type { Session, SessionListener } from './session.ts';

/** Most characters of one run for a screen reader; the rest of a long one is on the screen. */
const MAX_RUN_TEXT = 2000;
const MAX_RUNS = 20;

interface AnnouncedRun {
  key: number;
  line: string;
  text: string;
}

type Announcement = { begins: string } | { says: string };

function reduceRuns(runs: readonly AnnouncedRun[], event: Announcement): readonly AnnouncedRun[] {
  const last = runs.at(-1);
  if ('begins' in event) {
    return [...runs.slice(1 - MAX_RUNS), { key: (last?.key ?? 0) + 1, line: event.begins, text: '' }];
  }
  // Once the limit is reached only the terminal's own last line is added.
  if (last === undefined || (last.text.length >= MAX_RUN_TEXT && !event.says.startsWith('\n'))) return runs;
  const cut = event.says.slice(0, MAX_RUN_TEXT);
  const more = cut.length < event.says.length || last.text.length + cut.length >= MAX_RUN_TEXT ? `${cut}…` : cut;
  return [...runs.slice(0, -1), { ...last, text: last.text + more }];
}

export function Terminal({
  id,
  person,
  action,
  languages,
  blocked,
  wakes,
}: {
  id: string;
  /** The person whose history it is. */
  person: string;
  /** Runs a command of the plain form; null in the drawer, which is there with JavaScript only. */
  action: ExecAction | null;
  languages: readonly Language[];
  /** Why nothing can be run now, and a note that running wakes the sandbox. Sentences, or null. */
  blocked: string | null;
  wakes: string | null;
}) {
  const place = useRef<HTMLDivElement>(null);
  const form = useRef<HTMLDivElement>(null);
  const buttons = useRef<HTMLFieldSetElement>(null);
  const leave = useRef<HTMLButtonElement>(null);
  const session = useRef<Session>(null);
  const [ready, setReady] = useState(false);
  const [failed, setFailed] = useState(false);
  const [running, setRunning] = useState(false);
  const [language, setLanguage] = useState<Language>('shell');
  const [runs, announce] = useReducer(reduceRuns, []);
  const [shown, setShown] = useState('');
  const [copied, setCopied] = useState(false);
  const hint = useId();
  const wants = blocked === null;
  const inDrawer = action === null;
  const [terminals, setTerminals] = useState<readonly SandboxTerminal[]>([]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const cache = use(CacheContext);

  /** Opens another terminal and shows it. */
  const add = useCallback(async () => {
    try {
      const opened = await openTerminal(id);
      setTerminals((all) => [...all, opened]);
      setChosen(opened.id);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, [id]);

  useEffect(() => {
    if (!wants) return;
    let left = false;
    const load = async () => {
      const all = await terminalsOf(id);
      if (left) return;
      const open = all.filter(({ gone }) => gone === null);
      const last = all.filter(({ gone }) => gone !== null).at(-1);
      setTerminals(open);
      if (last !== undefined && open.length === 0)
        setProblem(`Terminal ${last.number} went with its scrollback. ${last.gone}`);
      if (open[0] === undefined) await add();
      else setChosen(open[0].id);
    };
    load().catch(() => setFailed(true));
    return () => {
      left = true;
    };
  }, [id, wants, add]);

  useEffect(() => {
    const box = place.current;
    if (!wants || box === null || chosen === null) return;
    let left = false;
    let close = () => {};
    const open = async () => {
      const [{ openScreen }, { Session }] = await Promise.all([import('./screen.ts'), import('./session.ts')]);
      await document.fonts.ready;
      if (left) return;
      const screen = openScreen(box, 'Command line. Escape leaves it.');
      const listener: SessionListener = {
        onBegin: (line) => {
          announce({ begins: line });
          setProblem(null);
        },
        onSaid: (text) => announce({ says: text }),
        onShown: setShown,
        onRunning: setRunning,
        // No ledger line tells of it: the page's clock is updated from here.
        onHeld: () => void readInstance(cache, id, -1),
        onGone: (because) => {
          setProblem(`The terminal went with its scrollback. ${because}`);
          setTerminals((all) => all.filter((one) => one.id !== chosen));
        },
        onLeave: () => leave.current?.focus(),
      };
      const opened = new Session(screen.terminal, { id, terminal: chosen, person }, listener);
      session.current = opened;
      writeTerminalSandbox(person, id);
      setLanguage('shell');
      close = () => {
        opened.close();
        session.current = null;
        screen.dispose();
      };
      const typed = form.current?.querySelector('textarea');
      if (typed !== null && typed !== undefined && typed.value !== '') opened.type(typed.value);
      // It takes the keyboard on a page where nobody uses it yet, and where its own form or tab had it.
      const focused = document.activeElement;
      const isOwn = inDrawer && box.closest('.terminal-drawer')?.contains(focused) === true;
      // Pressed there: the next Enter is meant for the terminal, and opens no second one.
      const isChosen = buttons.current?.contains(focused) === true;
      const isFree = focused === null || focused === document.body || focused === typed || isOwn || isChosen;
      setReady(true);
      // What is not visible takes no focus, and the page is drawn anew only later.
      box.classList.remove('invisible');
      if (isFree || focused?.matches('a[href*="tab=terminal"]') === true) screen.terminal.focus();
    };
    open().catch(() => setFailed(true));
    return () => {
      left = true;
      close();
      setReady(false);
    };
  }, [id, person, wants, chosen, cache, inDrawer]);

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = () => {
    session.current?.copy();
    setCopied(true);
  };
  const choose = (one: Language) => {
    setLanguage(one);
    if (session.current !== null) session.current.language = one;
  };
  const show = (terminal: string) => {
    if (terminal === chosen) place.current?.querySelector('textarea')?.focus();
    else setChosen(terminal);
  };
  const shownPath = { id, terminal: chosen ?? '' };
  const close = async () => {
    if (chosen === null) return;
    await closeTerminal(id, chosen).catch(() => undefined);
    const rest = terminals.filter((one) => one.id !== chosen);
    setTerminals(rest);
    const next = rest[0];
    if (next === undefined) await add();
    else setChosen(next.id);
  };

  return (
    <div className={inDrawer ? 'flex min-h-0 flex-1 flex-col gap-2' : 'grid gap-2'}>
      {wants && (
        <fieldset ref={buttons} className="flex min-h-[2.25rem] flex-wrap items-center gap-2" aria-label="Terminals">
          {terminals.map((one) => (
            <button
              key={one.id}
              type="button"
              className={`button button-quiet ${one.id === chosen ? '!border-ink !bg-ink !text-paper' : ''}`}
              aria-pressed={one.id === chosen}
              onClick={() => show(one.id)}
            >
              Terminal {one.number}
            </button>
          ))}
          <button
            type="button"
            className="button button-quiet"
            {...callMark({ name: 'openTerminal', path: { id } })}
            onClick={() => void add()}
          >
            New terminal
          </button>
          <button
            type="button"
            className="button button-quiet"
            disabled={chosen === null}
            {...callMark({ name: 'closeTerminal', path: shownPath })}
            onClick={() => void close()}
          >
            Close terminal
          </button>
        </fieldset>
      )}
      <div className="terminal-box">
        <div ref={place} className={`terminal-screen ${ready ? '' : 'invisible'}`} />
        {!ready && action !== null && (
          <div ref={form} className="absolute inset-0">
            <PlainForm action={action} blocked={blocked} wakes={wakes} />
          </div>
        )}
      </div>
      {ready && (
        <div role="log" aria-label="Output" className="sr-only">
          {runs.map(({ key, line, text }) => (
            <p key={key}>
              {line}
              {'\n'}
              {text}
            </p>
          ))}
        </div>
      )}
      <p className="sr-only" aria-live="polite">
        {shown}
      </p>
      <div className={`grid gap-2 ${ready ? '' : 'invisible'}`}>
        <div className="flex min-h-[2.25rem] flex-wrap items-center gap-x-3 gap-y-2">
          <button type="button" className="button button-quiet" ref={leave} aria-describedby={hint} onClick={copy}>
            <span aria-live="polite">{copied ? 'Copied' : 'Copy'}</span>
          </button>
          <button
            type="button"
            className="button button-quiet"
            {...callMark({ name: 'clearTerminal', path: shownPath })}
            onClick={() => void session.current?.clear()}
          >
            Clear
          </button>
          <button
            type="button"
            className="button button-quiet"
            disabled={!running}
            {...callMark({ name: 'interruptTerminal', path: shownPath })}
            onClick={() => session.current?.stop()}
          >
            Stop
          </button>
          {running && (
            <span className="text-small text-ink-3">
              runs for <Elapsed />
            </span>
          )}
          {languages.length > 1 && (
            <label className="flex items-center gap-2 text-small text-ink-2">
              Language
              <select
                className="input !min-h-7 !w-auto !py-0 !text-[0.8125rem]"
                value={language}
                onChange={({ target }) => choose(languages.find((one) => one === target.value) ?? 'shell')}
              >
                {languages.map((one) => (
                  <option key={one} value={one}>
                    {LANGUAGE_NAMES[one]}
                  </option>
                ))}
              </select>
            </label>
          )}
        </div>
        <p className="text-small text-ink-2 empty:hidden" role="status">
          {problem}
        </p>
        <p className={`text-small text-ink-3 ${inDrawer ? 'max-md:sr-only' : ''}`} id={hint}>
          {wakes} Esc leaves it by the keyboard, Ctrl + C stops a command or copies what is selected, Shift + Enter
          makes a new line, as Enter does in quotes and here-documents. Ctrl + L empties the screen, Clear the
          scrollback as well, for everybody.{' '}
          {language === 'shell' ? 'Lines share directory, variables, functions and history.' : 'Each run starts anew.'}{' '}
          What runs goes on when you leave the page.
        </p>
      </div>
      {failed && (
        <p className="complaint" role="alert">
          The terminal did not load. {!inDrawer && 'The form runs commands as well. '}Load the page again for it.
        </p>
      )}
    </div>
  );
}
