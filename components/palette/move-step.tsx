'use client';
/** The palette's second step: one sandbox with what can be done to it, and the reason for a revival. */
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { MOVES_IN_PROGRESS, type MoveOffer } from '../sandbox/moves.tsx';
import { StateMark } from '../sandbox/state-mark.tsx';
import { headlineWord } from '../sandbox/state-words.ts';
import { Skeleton } from '../ui/skeleton.tsx';
import type { SandboxAct } from './acts.ts';
import { moveGroups } from './choice-items.ts';
import { Chooser, KeyHints } from './chooser.tsx';
import type { PaletteGroup, PaletteSandbox, SandboxChoice } from './items.ts';
import { RunStep } from './run-step.tsx';

/** The server action that reads a sandbox and its moves; null: there is no such sandbox. */
export type LoadSandbox = (id: string) => Promise<SandboxChoice | null>;

function onlyOf(groups: readonly PaletteGroup[], value: string): PaletteGroup[] {
  return groups
    .map(({ name, items }) => ({ name, items: items.filter((item) => item.value === value) }))
    .filter(({ items }) => items.length > 0);
}

function Reason({ name, onGive }: { name: string; onGive: (reason: string) => void }) {
  return (
    <form
      className="grid gap-3 px-4 py-4"
      onSubmit={(event) => {
        event.preventDefault();
        const reason = new FormData(event.currentTarget).get('reason');
        if (typeof reason === 'string' && reason.trim() !== '') onGive(reason.trim());
      }}
    >
      <label className="block min-w-0">
        <span className="field-name">Why {name} is revived, for the ledger</span>
        <input
          className="input"
          name="reason"
          required
          maxLength={1000}
          autoComplete="off"
          ref={(field) => field?.focus()}
        />
      </label>
      <div>
        <button type="submit" className="button button-ink">
          Revive
        </button>
      </div>
    </form>
  );
}

export function MoveStep({
  id,
  typed: first = '',
  item,
  ask,
  onGo,
  onTerminal,
  onMove,
  onAct,
  onBack,
}: {
  id: string;
  /** An act that was typed already: it is chosen at once. */
  typed?: string;
  /** One of what can be done, by its value: it is chosen at once. */
  item?: string;
  ask: LoadSandbox;
  onGo: (href: string) => void;
  /** Opens its terminal over the page. */
  onTerminal: () => void;
  onMove: (offer: MoveOffer, sandbox: PaletteSandbox, reason: string) => void;
  onAct: (act: SandboxAct, sandbox: PaletteSandbox) => void;
  onBack: () => void;
}) {
  const [typed, setTyped] = useState(first);
  const [command, setCommand] = useState<string | null>(null);
  const [busy, setBusy] = useState<MoveOffer | null>(null);
  const [reason, setReason] = useState<MoveOffer | null>(null);
  const { data, isPending, isError } = useQuery({
    queryKey: ['palette', 'what', id],
    queryFn: () => ask(id),
    staleTime: 0,
    gcTime: 0,
  });
  if (!isPending && (isError || data === null)) {
    return (
      <p className="palette-says" role="alert">
        {isError ? 'The server did not answer.' : `There is no sandbox ${id} any more.`} Esc closes this.
      </p>
    );
  }
  const sandbox = data?.sandbox;
  const name = sandbox?.name ?? id;
  const all = data === undefined || data === null ? [] : moveGroups(data, typed);
  // What was chosen on the first step comes alone, until something is typed.
  const isOne = item !== undefined && typed === '';
  const groups = isOne ? onlyOf(all, item) : all;
  const run = (offer: MoveOffer, why: string) => {
    if (sandbox === undefined) return;
    setBusy(offer);
    onMove(offer, sandbox, why);
  };
  return (
    <>
      <p className="palette-about">
        {sandbox !== undefined && (
          <StateMark state={sandbox.state} fault={sandbox.fault} size={16} className="flex-none self-center" />
        )}
        <span className="min-w-0 truncate font-[560]">{name}</span>
        {sandbox !== undefined && <span className="flex-none text-ink-2">{headlineWord(sandbox)}</span>}
        {name !== id && <code className="palette-detail">{id}</code>}
      </p>
      {busy !== null ? (
        <p className="palette-says" role="status">
          {MOVES_IN_PROGRESS[busy.verb]}
        </p>
      ) : reason !== null ? (
        <Reason name={name} onGive={(why) => run(reason, why)} />
      ) : command !== null ? (
        <RunStep id={id} name={name} command={command} onBack={() => setCommand(null)} />
      ) : (
        <Chooser
          typed={typed}
          onType={setTyped}
          placeholder={`What to do with ${name}`}
          groups={groups}
          fresh={!isPending}
          entered={isOne || (first !== '' && typed === first)}
          onChoose={(action) => {
            if (action.kind === 'go') onGo(action.href);
            else if (action.kind === 'terminal') onTerminal();
            else if (action.kind === 'reason' && action.reason !== undefined) run(action.offer, action.reason);
            else if (action.kind === 'reason') setReason(action.offer);
            else if (action.kind === 'run') setCommand(action.command);
            else if (action.kind === 'act' && sandbox !== undefined) onAct(action.act, sandbox);
            else if (action.kind === 'move') run(action.offer, '');
          }}
          onBack={onBack}
        >
          {isPending && <Skeleton lines={4} says="Loading its moves" />}
          {!isPending && groups.length === 0 && (
            <p className="palette-says" role="status">
              There is nothing called “{typed.trim()}” to do with it. Type a move, a tab, <code>hold 3d</code>,{' '}
              <code>snapshot as …</code>, <code>exec …</code> or <code>revive …</code>.
            </p>
          )}
          <KeyHints>
            <kbd className="key">Enter</kbd> to choose · <kbd className="key">Backspace</kbd> goes back ·{' '}
            <kbd className="key">Esc</kbd> closes
          </KeyHints>
        </Chooser>
      )}
    </>
  );
}
