'use client';
/**
 * The terminal of one sandbox: the plain form, replaced by an emulator where JavaScript runs. While it is open and in
 * use it keeps an awake sandbox attached. Opening it wakes nothing.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useId, useReducer, useRef, useState } from 'react';
import type { Instance } from '#lib/contract/schema.ts';
import { instanceKey } from '../live/cache.ts';
import { RelativeTime } from '../ui/relative-time.tsx';
import { type Attachment, attach } from './attachment.ts';
import { RELEASE_MINUTES } from './attachment-timer.ts';
import { type ExecAction, PlainForm } from './plain-form.tsx';
import type { Session, SessionListener } from './session.ts';
import { LANGUAGE_NAMES, type Language } from './words.ts';

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

/**
 * Attached while the terminal is used and the sandbox is awake, or was woken from here since it was last seen asleep.
 */
function useAttachment(id: string, state: Instance['state'], open: boolean) {
  const attachment = useRef<Attachment>(null);
  const [letGoAt, setLetGoAt] = useState<number | null>(null);
  const queries = useQueryClient();
  useEffect(() => {
    if (!open) return;
    // No ledger line tells of it: the page's clock is updated from here.
    const onChanged = () => void queries.invalidateQueries({ queryKey: instanceKey(id) });
    const opened = attach(id, { onChanged, onReleased: setLetGoAt });
    attachment.current = opened;
    return () => {
      attachment.current = null;
      opened.leave();
      setLetGoAt(null);
    };
  }, [id, open, queries]);
  useEffect(() => {
    if (open) attachment.current?.setAwake(state === 'active');
  }, [open, state]);
  return { attachment, letGoAt };
}

export function Terminal({
  id,
  person,
  state,
  action,
  languages,
  blocked,
  wakes,
}: {
  id: string;
  /** The person whose history it is. */
  person: string;
  state: Instance['state'];
  action: ExecAction;
  languages: readonly Language[];
  /** Why nothing can be run now, and a note that running wakes the sandbox. Sentences, or null. */
  blocked: string | null;
  wakes: string | null;
}) {
  const place = useRef<HTMLDivElement>(null);
  const form = useRef<HTMLDivElement>(null);
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
  const { attachment, letGoAt } = useAttachment(id, state, ready);

  useEffect(() => {
    const box = place.current;
    if (!wants || box === null) return;
    let left = false;
    let close = () => {};
    const open = async () => {
      const [{ openScreen }, { Session }] = await Promise.all([import('./screen.ts'), import('./session.ts')]);
      await document.fonts.ready;
      if (left) return;
      const screen = openScreen(box, 'Command line. Escape leaves it.');
      const listener: SessionListener = {
        onBegin: (line) => announce({ begins: line }),
        onSaid: (text) => announce({ says: text }),
        onShown: setShown,
        onRunning: setRunning,
        onUsed: () => attachment.current?.used(),
        onWoke: () => attachment.current?.setAwake(true),
        onLeave: () => leave.current?.focus(),
      };
      const opened = new Session(screen.terminal, { id, person }, listener);
      session.current = opened;
      setLanguage('shell');
      close = () => {
        opened.close();
        session.current = null;
        screen.dispose();
      };
      const typed = form.current?.querySelector('textarea');
      if (typed !== null && typed !== undefined && typed.value !== '') opened.type(typed.value);
      const writing = document.activeElement === typed;
      setReady(true);
      if (writing) screen.terminal.focus();
    };
    open().catch(() => setFailed(true));
    return () => {
      left = true;
      close();
      setReady(false);
    };
  }, [id, person, wants, attachment]);

  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 2000);
    return () => clearTimeout(timer);
  }, [copied]);

  const copy = () => {
    session.current?.copy();
    setCopied(true);
  };
  const choose = (chosen: Language) => {
    setLanguage(chosen);
    if (session.current !== null) session.current.language = chosen;
  };

  return (
    <div className="grid gap-2">
      <div className="terminal-box">
        <div ref={place} className={`terminal-screen ${ready ? '' : 'invisible'}`} />
        {!ready && (
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
          <button type="button" className="button button-quiet" onClick={() => session.current?.clear()}>
            Clear
          </button>
          <button
            type="button"
            className="button button-quiet"
            disabled={!running}
            onClick={() => session.current?.stop()}
          >
            Stop
          </button>
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
          {letGoAt !== null && (
            <>
              It let go <RelativeTime at={Math.round(letGoAt / 1000)} rendered={Math.round(letGoAt / 1000)} />, after{' '}
              {RELEASE_MINUTES} min without a key or output.
              {state === 'active' && ' The idle clock runs; the next key holds it awake again.'}
            </>
          )}
        </p>
        <p className="text-small text-ink-3" id={hint}>
          {wakes} Esc leaves it by the keyboard, Ctrl + C stops a command or copies what is selected, Shift + Enter
          makes a new line.{' '}
          {language === 'shell' ? 'Commands share the directory, but no variables.' : 'Each run starts anew.'} Leaving
          the tab ends what runs.
        </p>
      </div>
      {failed && (
        <p className="complaint" role="alert">
          The terminal did not load. The form runs commands as well; load the page again for the terminal.
        </p>
      )}
    </div>
  );
}
