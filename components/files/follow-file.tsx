'use client';
/** Follows the end of a growing file: asks for what was added since, once a second, while the page is in view. */
import { useEffect, useRef, useState } from 'react';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { type FileTail, NO_TAIL, readTail } from './file-calls.ts';

const EVERY_MS = 1000;

/** `address`: of the file's bytes. `size`: when the page was rendered. */
export function FollowFile({ address, name, size }: { address: string; name: string; size: number }) {
  const [isOn, setIsOn] = useState(false);
  return (
    <div className="border-t border-rule">
      <div className="flex flex-wrap items-center gap-3 px-4 py-2 text-small text-ink-2">
        <button type="button" className="button button-quiet" aria-pressed={isOn} onClick={() => setIsOn(!isOn)}>
          {isOn ? 'Stop following' : 'Follow its end'}
        </button>
        {isOn && <span>What is added appears within a second. Reading does not keep the sandbox awake.</span>}
      </div>
      {isOn && <Tail address={address} name={name} size={size} />}
    </div>
  );
}

function Tail({ address, name, size }: { address: string; name: string; size: number }) {
  const [tail, setTail] = useState<FileTail>(NO_TAIL);
  const box = useRef<HTMLPreElement>(null);
  const isAtEnd = useRef(true);
  useEffect(() => {
    let last: FileTail = NO_TAIL;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = new AbortController();
    const look = async () => {
      if (!document.hidden) {
        const next = await readTail(address, last, size, stop.signal);
        if (stop.signal.aborted) return;
        if (next !== last) setTail(next);
        last = next;
      }
      timer = setTimeout(look, EVERY_MS);
    };
    void look();
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [address, size]);
  useEffect(() => {
    if (isAtEnd.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [tail]);
  return (
    <>
      {tail.says !== null && <p className="complaint px-4">{tail.says}</p>}
      <pre
        ref={box}
        role="log"
        aria-label={`The end of ${name}`}
        className="code max-h-[24rem] overflow-auto border-t border-rule px-4 py-3 text-[0.8125rem] leading-[1.55]"
        onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
          isAtEnd.current = scrollTop + clientHeight >= scrollHeight - 8;
        }}
        {...SCROLLABLE}
      >
        {tail.text}
      </pre>
    </>
  );
}
