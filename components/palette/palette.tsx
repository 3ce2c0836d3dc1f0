'use client';
import { QueryClientProvider } from '@tanstack/react-query';
/**
 * The content of the command palette: find a sandbox or a page by a few letters, then choose an action. It is loaded
 * when it is first opened, in the dialog of trigger.tsx. A toast reports how a move ended.
 */
import { usePathname, useRouter } from 'next/navigation';
import { use, useEffect, useRef, useState } from 'react';
import { CacheContext } from '../live/live-data.tsx';
import { queriesOf } from '../live/queries.ts';
import type { MoveOffer, MoveOutcome } from '../sandbox/moves.tsx';
import { toast } from '../ui/toasts.tsx';
import { mayLeave } from '../ui/unsaved.ts';
import { FindStep } from './find-step.tsx';
import type { PaletteSandbox } from './items.ts';
import { type LoadSandbox, MoveStep } from './move-step.tsx';
import { goToButton } from './page-buttons.ts';
import type { PendingInput } from './pending-input.ts';
import { perform } from './perform.ts';

/** The server action that makes a move. */
export type MakeMove = (id: string, previous: MoveOutcome | null, form: FormData) => Promise<MoveOutcome | null>;

export interface PaletteProps {
  /** The visitor, as the ledger names them. */
  actor: string;
  ask: LoadSandbox;
  move: MakeMove;
  start: PendingInput;
  close: () => void;
  onSheet: () => void;
  onCalls: () => void;
  /** Opens a terminal over the page: of a sandbox, or of the one that the page or the last use says. */
  onTerminal: (id?: string) => void;
}

/** The sandbox whose page has this address. */
function sandboxAt(pathname: string): string | null {
  return /^\/sandboxes\/([^/]+)$/.exec(pathname)?.[1] ?? null;
}

/** The choice of a theme is the footer's, on every page. */
function pressTheme(theme: string): void {
  document.querySelector<HTMLButtonElement>(`footer button[name="theme"][value="${theme}"]`)?.click();
}

/** Makes a move and reports in a toast how it ended. `here`: the address of the page that is open. */
async function moveAndReport(
  move: MakeMove,
  { verb }: MoveOffer,
  { id, name }: PaletteSandbox,
  reason: string,
  here: string,
) {
  const form = new FormData();
  form.set('verb', verb);
  form.set('reason', reason);
  const home = `/sandboxes/${id}`;
  try {
    const outcome = await move(id, null, form);
    if (outcome === null) return;
    const { ok, says, hint, force } = outcome;
    const look = here === home ? undefined : { label: 'Open it', href: home };
    const link = force === null ? look : { label: 'Force it on its page', href: `${home}#moves` };
    toast({ key: `sandbox ${id}`, ok, says: `${name ?? id}: ${says}`, hint, link });
  } catch {
    toast({
      key: `sandbox ${id}`,
      ok: false,
      says: `${name ?? id}: the server did not answer.`,
      hint: 'Its ledger says what became of it.',
      link: { label: 'Its ledger', href: `${home}?tab=ledger` },
    });
  }
}

function PaletteSteps({ actor, ask, move, start, close, onSheet, onCalls, onTerminal }: PaletteProps) {
  const router = useRouter();
  const pathname = usePathname();
  const [typed, setTyped] = useState(start.typed);
  const [entered, setEntered] = useState(start.entered);
  const [chosen, setChosen] = useState<{ id: string; typed?: string; item?: string } | null>(null);
  const open = useRef(true);
  useEffect(() => {
    open.current = true;
    return () => {
      open.current = false;
    };
  }, []);

  const go = (href: string) => {
    if (!mayLeave()) return;
    close();
    router.push(href);
  };
  const openTerminal = (id?: string) => {
    close();
    onTerminal(id);
  };
  const finish = () => {
    // The palette may have been closed by hand meanwhile, and opened again.
    if (open.current) close();
  };
  if (chosen !== null) {
    return (
      <MoveStep
        id={chosen.id}
        typed={chosen.typed}
        item={chosen.item}
        ask={ask}
        onGo={go}
        onTerminal={() => openTerminal(chosen.id)}
        onBack={() => setChosen(null)}
        onAct={async (act, { id, name }) => {
          toast(await perform(id, name, act));
          finish();
          router.refresh();
        }}
        onMove={async (offer, sandbox, reason) => {
          await moveAndReport(move, offer, sandbox, reason, pathname);
          finish();
        }}
      />
    );
  }
  return (
    <FindStep
      actor={actor}
      here={sandboxAt(pathname)}
      ask={ask}
      typed={typed}
      entered={entered}
      forTerminal={start.forTerminal}
      onType={setTyped}
      onAction={(action, directly) => {
        setEntered(false);
        if (action.kind === 'go') go(action.href);
        else if (action.kind === 'choose' && start.forTerminal) openTerminal(action.id);
        else if (action.kind === 'terminal') openTerminal();
        else if (action.kind === 'choose' && directly) go(`/sandboxes/${action.id}`);
        else if (action.kind === 'choose') setChosen(action);
        else if (action.kind === 'theme') {
          close();
          pressTheme(action.theme);
        } else if (action.kind === 'button') {
          close();
          // The dialog gives the keyboard back to the page first.
          setTimeout(() => goToButton(action.button));
        } else if (action.kind === 'sheet') {
          close();
          onSheet();
        } else if (action.kind === 'calls') {
          close();
          onCalls();
        }
      }}
    />
  );
}

export function Palette(props: PaletteProps) {
  return (
    <QueryClientProvider client={queriesOf(use(CacheContext))}>
      <PaletteSteps {...props} />
    </QueryClientProvider>
  );
}
