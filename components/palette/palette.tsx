'use client';
/**
 * The command palette's inside: find a sandbox or a page by a few letters, then choose what to do. Loaded when it is
 * first opened; the dialog around it is palette-door.tsx's. What becomes of a move is said by a message.
 */
import { usePathname, useRouter } from 'next/navigation';
import { useEffect, useRef, useState } from 'react';
import type { MoveOutcome, Offer } from '../sandbox/moves.tsx';
import { toast } from '../ui/toasts.tsx';
import { Find } from './find.tsx';
import type { Shown } from './items.ts';
import { type AskWhat, ChosenMoves } from './moves.tsx';
import type { Start } from './trigger.tsx';

/** How the palette has a move made. */
export type MakeMove = (id: string, previous: MoveOutcome | null, form: FormData) => Promise<MoveOutcome | null>;

export interface PaletteProps {
  /** The visitor, as the ledger writes him. */
  actor: string;
  ask: AskWhat;
  move: MakeMove;
  start: Start;
  close: () => void;
  onSheet: () => void;
}

/** Makes the move and says what became of it; `here` is the page that is open. */
async function moveAndSay(move: MakeMove, { verb }: Offer, { id, name }: Shown, reason: string, here: string) {
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

export function Palette({ actor, ask, move, start, close, onSheet }: PaletteProps) {
  const router = useRouter();
  const pathname = usePathname();
  const [typed, setTyped] = useState(start.typed);
  const [entered, setEntered] = useState(start.entered);
  const [id, setId] = useState<string | null>(null);
  const open = useRef(true);
  useEffect(() => {
    open.current = true;
    return () => {
      open.current = false;
    };
  }, []);

  const go = (href: string) => {
    close();
    router.push(href);
  };
  if (id !== null) {
    return (
      <ChosenMoves
        id={id}
        ask={ask}
        onGo={go}
        onBack={() => setId(null)}
        onMove={async (offer, sandbox, reason) => {
          await moveAndSay(move, offer, sandbox, reason, pathname);
          // Closed by hand meanwhile, another may be open.
          if (open.current) close();
        }}
      />
    );
  }
  return (
    <Find
      actor={actor}
      typed={typed}
      entered={entered}
      onType={setTyped}
      onDeed={(deed, directly) => {
        setEntered(false);
        if (deed.kind === 'go') go(deed.href);
        else if (deed.kind === 'choose' && directly) go(`/sandboxes/${deed.id}`);
        else if (deed.kind === 'choose') setId(deed.id);
        else if (deed.kind === 'sheet') {
          close();
          onSheet();
        }
      }}
    />
  );
}
