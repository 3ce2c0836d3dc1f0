'use client';
/**
 * How toasts look: at the bottom of the window, or at its top where they would cover the focus. They wait while
 * somebody is at them.
 */
import Link from 'next/link';
import { type RefObject, useEffect, useRef, useState } from 'react';
import { MAX_VISIBLE_TOASTS, type Toast, type ToastListProps, toastLifetimeMs, visibleToasts } from './toast-stack.ts';

/** Whether an element uses the Escape key itself. */
function keepsEscape(target: EventTarget | null): boolean {
  return (
    target instanceof Element && target.closest('input, textarea, select, [contenteditable], dialog, .xterm') !== null
  );
}

/** The edge of the window for the messages: the top while the focus is where they would stand at the bottom. */
function useSide(stack: RefObject<HTMLElement | null>, count: number): 'top' | 'bottom' {
  const [side, setSide] = useState<'top' | 'bottom'>('bottom');
  useEffect(() => {
    if (count === 0) return setSide('bottom');
    const look = () => {
      const own = stack.current;
      const focused = document.activeElement;
      if (own === null || focused === null || focused === document.body || own.contains(focused)) return;
      const { top, bottom, left, right } = focused.getBoundingClientRect();
      const mine = own.getBoundingClientRect();
      // After a skip link the whole page has the focus; covering a corner of it does not hide it.
      if (bottom - top > window.innerHeight / 2 || right < mine.left || left > mine.right) return;
      if (bottom > window.innerHeight - mine.height - 24) setSide('top');
      else if (top < mine.height + 24) setSide('bottom');
    };
    look();
    document.addEventListener('focusin', look);
    return () => document.removeEventListener('focusin', look);
  }, [stack, count]);
  return side;
}

function Message({
  toast: { number, ok, says, hint, action, link },
  paused,
  onDismiss,
}: {
  toast: Toast;
  paused: boolean;
  onDismiss: (number: number) => void;
}) {
  const stays = toastLifetimeMs({ ok, says, action, link });
  const left = useRef(stays);
  useEffect(() => {
    if (paused || left.current === null) return;
    const began = performance.now();
    const timer = setTimeout(() => onDismiss(number), left.current);
    return () => {
      clearTimeout(timer);
      left.current = Math.max(1000, (left.current ?? 0) - (performance.now() - began));
    };
  }, [paused, number, onDismiss]);
  return (
    <div className={ok ? 'toast' : 'toast toast-bad'} role={ok ? 'status' : 'alert'} aria-atomic="true">
      <div className="min-w-0 flex-1">
        <p>{says}</p>
        {hint !== undefined && <p className="mt-0.5 text-small text-ink-2">{hint}</p>}
        {(action !== undefined || link !== undefined) && (
          <p className="mt-2 flex flex-wrap gap-3">
            {action !== undefined && (
              <button
                type="button"
                className="button button-quiet"
                onClick={() => {
                  action.run();
                  onDismiss(number);
                }}
              >
                {action.label}
              </button>
            )}
            {link !== undefined && (
              <Link href={link.href} prefetch={false} onClick={() => onDismiss(number)} className="text-small">
                {link.label}
              </Link>
            )}
          </p>
        )}
      </div>
      <button type="button" className="toast-close" aria-label="Dismiss this message" onClick={() => onDismiss(number)}>
        <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true" focusable="false">
          <path d="M2 2l8 8M10 2l-8 8" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" />
        </svg>
      </button>
    </div>
  );
}

/** The toasts that are shown, the newest last. */
export function ToastList({ all, onDismiss }: ToastListProps) {
  const stack = useRef<HTMLElement>(null);
  const came = useRef<Element | null>(null);
  const [over, setOver] = useState(false);
  const [inside, setInside] = useState(false);
  const [away, setAway] = useState(false);
  const side = useSide(stack, all.length);
  const visible = visibleToasts(all);
  const newest = visible.at(-1)?.number;

  useEffect(() => {
    const look = () => setAway(document.visibilityState === 'hidden');
    look();
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);

  useEffect(() => {
    if (newest === undefined) return;
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented && !keepsEscape(event.target)) onDismiss(newest);
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [newest, onDismiss]);

  // A dismissed message loses the focus: it goes back to where it was.
  const count = all.length;
  const before = useRef(count);
  useEffect(() => {
    const fewer = count < before.current;
    before.current = count;
    if (!fewer || document.activeElement !== document.body) return;
    setInside(false);
    setOver(false);
    if (came.current instanceof HTMLElement && came.current.isConnected) came.current.focus();
    came.current = null;
  }, [count]);

  const isOutside = (target: EventTarget | null) => target instanceof Node && !stack.current?.contains(target);
  return (
    <section
      ref={stack}
      aria-label={count === 0 ? undefined : 'Messages'}
      className={side === 'top' ? 'toasts toasts-top' : 'toasts'}
      onPointerEnter={() => setOver(true)}
      onPointerLeave={() => setOver(false)}
      onFocus={({ relatedTarget }) => {
        if (isOutside(relatedTarget)) came.current = relatedTarget;
        setInside(true);
      }}
      onBlur={({ relatedTarget }) => {
        if (isOutside(relatedTarget)) came.current = null;
        if (relatedTarget === null || isOutside(relatedTarget)) setInside(false);
      }}
    >
      {visible.map((message) => (
        <Message key={message.number} toast={message} paused={over || inside || away} onDismiss={onDismiss} />
      ))}
      {count > MAX_VISIBLE_TOASTS && (
        <p className="toast text-small text-ink-2">{count - MAX_VISIBLE_TOASTS} more after these</p>
      )}
    </section>
  );
}
