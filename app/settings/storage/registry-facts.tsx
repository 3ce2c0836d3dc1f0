/** The registry: where it is, its size, the log of a file, its last check, and the button that checks it. */
import { WithCall } from '#components/calls/with-call.tsx';
import { sizeInWords, tookInWords } from '#components/ui/durations.ts';
import { Fact, FactList } from '#components/ui/fact-list.tsx';
import { RelativeTime } from '#components/ui/relative-time.tsx';
import type { Storage } from '#lib/contract/schema.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { checkStorage } from './actions.ts';

/** Whether the registry is a database of Postgres, which keeps its own log. */
export const isDatabase = ({ registry }: Storage) => registry.file?.startsWith('postgres://') ?? false;

export function RegistryFacts({ storage, rendered }: { storage: Storage; rendered: number }) {
  const { registry, running } = storage;
  const { check } = registry;
  const inDatabase = isDatabase(storage);
  return (
    <div className="grid gap-5">
      <FactList>
        <Fact name={inDatabase ? 'Database' : 'File'}>
          {registry.file === null ? (
            'in memory: gone with the process'
          ) : (
            <>
              <code className="text-[0.8125rem]">{registry.file}</code>{' '}
              {!registry.inside_data && !inDatabase && (
                <span className="text-small text-ink-3">outside the data folder</span>
              )}
            </>
          )}
        </Fact>
        <Fact name="Size">
          {sizeInWords(registry.bytes)}{' '}
          {registry.free_bytes > 0 && (
            <span className="text-small text-ink-3">{sizeInWords(registry.free_bytes)} of it unused</span>
          )}
        </Fact>
        {!inDatabase && (
          <>
            <Fact name="Write-ahead log">{sizeInWords(registry.wal_bytes)}</Fact>
            <Fact name="Last checkpoint">
              {registry.checkpointed === null ? (
                'none'
              ) : (
                <RelativeTime at={registry.checkpointed} rendered={rendered} />
              )}
            </Fact>
          </>
        )}
        <Fact name="Structure" wide>
          {check === null ? (
            'not checked yet'
          ) : (
            <>
              {check.ok ? 'sound' : <span className="text-fault-ink">{check.says}</span>}{' '}
              <span className="text-small text-ink-3">
                checked <RelativeTime at={check.time} rendered={rendered} /> in {tookInWords(check.took_ms)}
              </span>
            </>
          )}
        </Fact>
      </FactList>
      {running.includes('registry') && <p className="text-ink-2">A check is under way.</p>}
      <WithCall name="checkStorage" body={{ what: 'registry' }}>
        <ConfirmButton
          action={checkStorage.bind(null, 'registry')}
          button="Check its structure"
          doing="Checking…"
          label="of the registry"
        />
      </WithCall>
    </div>
  );
}
