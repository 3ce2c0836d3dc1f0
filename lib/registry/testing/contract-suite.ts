/** The suite that every registry driver passes. */
import { describe } from 'vitest';
import { accessSuite } from './access-suite.ts';
import { agentSuite } from './agent-suite.ts';
import { backupSuite } from './backup-suite.ts';
import { claimSuite } from './claim-suite.ts';
import { copySuite } from './copy-suite.ts';
import { countSuite } from './count-suite.ts';
import { createSuite } from './create-suite.ts';
import type { RegistryUnderTest } from './fixtures.ts';
import { guestSuite } from './guest-suite.ts';
import { jobSuite } from './job-suite.ts';
import { ledgerSuite } from './ledger-suite.ts';
import { listSuite } from './list-suite.ts';
import { networkSuite } from './network-suite.ts';
import { ownerSuite } from './owner-suite.ts';
import { peopleSuite } from './people-suite.ts';
import { quotaSuite } from './quota-suite.ts';
import { recordSuite } from './record-suite.ts';
import { runSuite } from './run-suite.ts';
import { scheduleSuite } from './schedule-suite.ts';
import { segmentSuite } from './segment-suite.ts';
import { shareSuite } from './share-suite.ts';
import { storeSuite } from './store-suite.ts';
import { textSuite } from './text-suite.ts';
import { transitionSuite } from './transition-suite.ts';
import { usageSuite } from './usage-suite.ts';
import { webhookSuite } from './webhook-suite.ts';
import { workbookSuite } from './workbook-suite.ts';

/** Runs the registry suite on a driver. */
export function registryContract(name: string, driver: RegistryUnderTest): void {
  describe(name, () => {
    describe('rows', () => createSuite(driver));
    describe('transitions', () => transitionSuite(driver));
    describe('owners', () => ownerSuite(driver));
    describe('records', () => recordSuite(driver));
    describe('lists', () => listSuite(driver));
    describe('text', () => textSuite(driver));
    describe('counts', () => countSuite(driver));
    describe('copies', () => copySuite(driver));
    describe('agents', () => agentSuite(driver));
    describe('ledger and ladder', () => ledgerSuite(driver));
    describe('access', () => accessSuite(driver));
    describe('people', () => peopleSuite(driver));
    describe('shares', () => shareSuite(driver));
    describe('quotas and wake times', () => quotaSuite(driver));
    describe('usage by the hour', () => usageSuite(driver));
    describe('names in a store', () => storeSuite(driver));
    describe('claims', () => claimSuite(driver));
    describe('backups', () => backupSuite(driver));
    describe('jobs', () => jobSuite(driver));
    describe('runs', () => runSuite(driver));
    describe('schedules', () => scheduleSuite(driver));
    describe('variables and secrets', () => guestSuite(driver));
    describe('the network of sandboxes', () => networkSuite(driver));
    describe('webhooks', () => webhookSuite(driver));
    describe('workbooks', () => workbookSuite(driver));
    describe('segments of the ledger', () => segmentSuite(driver));
  });
}
