/** The drawers: the registry's counts, and the results of the last search through every file. */

import Link from 'next/link';
import { WithCall } from '#components/calls/with-call.tsx';
import { sizeInWords, tookInWords } from '#components/ui/durations.ts';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { checkStorage } from './actions.ts';
import { comparedInWords, DRAWER_MEANS, figures } from './store-words.ts';

export function DrawerTable({ drawers }: Pick<Storage, 'drawers'>) {
  return (
    <table className="ledger ledger-cards">
      <thead>
        <tr>
          <th scope="col">Drawer</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Sandboxes
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Size awake
          </th>
          <th scope="col">State</th>
        </tr>
      </thead>
      <tbody>
        {drawers.map(({ drawer, rows, bytes, writable, same_disk }) => (
          <tr key={drawer}>
            <td className="max-md:col-start-1">
              {drawer} <span className="text-small text-ink-3">{DRAWER_MEANS[drawer]}</span>
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-2">
              {figures(rows)}
              <span className="md:sr-only"> {rows === 1 ? 'sandbox' : 'sandboxes'}</span>
            </td>
            <td className="text-right whitespace-nowrap max-md:col-start-1 max-md:!text-left">{sizeInWords(bytes)}</td>
            <td className="max-md:col-span-full">
              {writable ? (
                <>
                  on this disk{drawer === 'live' || same_disk ? '' : ', another than the live drawer’s'}
                  <span className="text-small text-ink-3">
                    {drawer === 'cold' ? (same_disk ? ': freezing is a rename' : ': freezing copies') : ''}
                  </span>
                </>
              ) : (
                <span className="text-fault-ink">cannot be reached</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function MeasuredFiles({ storage, rendered }: { storage: Storage; rendered: number }) {
  const { measured, running } = storage;
  const rowsOf: Readonly<Record<string, number>> = measured?.rows ?? {};
  return (
    <div className="grid gap-4">
      {measured === null ? (
        <p className="text-ink-2">
          Not checked yet. The check looks at every file once; with a million files that takes minutes, so it runs only
          when asked.
        </p>
      ) : (
        <>
          <p className="text-small text-ink-2">
            As it was <RelativeTime at={measured.time} rendered={rendered} />; the check took{' '}
            {tookInWords(measured.took_ms)}. What moved meanwhile may be counted twice or not at all.
          </p>
          <table className="ledger">
            <thead>
              <tr>
                <th scope="col">Folder</th>
                <th scope="col" className="text-right whitespace-nowrap">
                  Files
                </th>
                <th scope="col" className="text-right whitespace-nowrap">
                  On disk
                </th>
                <th scope="col" className="max-sm:hidden">
                  Compared with the rows
                </th>
              </tr>
            </thead>
            <tbody>
              {measured.drawers.map(({ drawer, files, bytes }) => {
                const rows = rowsOf[drawer];
                return (
                  <tr key={drawer}>
                    <td>
                      {drawer} <span className="text-small text-ink-3 max-sm:block">{DRAWER_MEANS[drawer]}</span>
                    </td>
                    <td className="text-right whitespace-nowrap">{figures(files)}</td>
                    <td className="text-right whitespace-nowrap">{sizeInWords(bytes)}</td>
                    <td className="text-small text-ink-2 max-sm:hidden">
                      {rows === undefined ? '' : comparedInWords(files, rows)}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
          <p className="text-small">
            <Link href="/audit?type=orphan.set_aside" prefetch={false}>
              What was set aside, and when
            </Link>
          </p>
        </>
      )}
      {running.includes('drawers') && <p className="text-ink-2">A check of every file is under way.</p>}
      <WithCall name="checkStorage" body={{ what: 'drawers' }}>
        <ConfirmButton
          action={checkStorage.bind(null, 'drawers')}
          button={measured === null ? 'Look at every file' : 'Look again'}
          doing="Looking…"
          label="in the drawers"
        />
      </WithCall>
    </div>
  );
}
