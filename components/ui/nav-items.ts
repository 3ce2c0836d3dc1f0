/** The navigation items of the console: for the masthead, the palette and the shortcuts. The only list of them. */

export interface NavItem {
  href: string;
  name: string;
  /** The shortcut: `g`, then this key. */
  key?: string;
  /** Current only at exactly this address, not below it. */
  exact?: true;
  /** Other addresses where it is the current item. */
  also?: readonly string[];
}

/** The main navigation. */
export const MAIN_NAV: readonly NavItem[] = [
  { href: '/', name: 'Overview', key: 'o', exact: true },
  { href: '/sandboxes', name: 'Sandboxes', key: 's', also: ['/jobs'] },
  { href: '/archive', name: 'Archive', key: 'a' },
  { href: '/snapshots', name: 'Library', key: 'l', also: ['/blueprints', '/shares', '/workbooks'] },
  { href: '/tenants', name: 'Tenants', key: 't' },
  { href: '/audit', name: 'Audit', key: 'u' },
];

/** The tools at the foot of the navigation. */
export const TOOL_NAV: readonly NavItem[] = [
  { href: '/explorer', name: 'Explorer', key: 'e' },
  { href: '/settings', name: 'Settings', key: ',' },
];

/** Pages without an item in the navigation. */
export const OTHER_PAGES: readonly NavItem[] = [
  { href: '/attention', name: 'Attention', key: 'n' },
  { href: '/blueprints', name: 'Blueprints' },
  { href: '/shares', name: 'Shares' },
  { href: '/workbooks', name: 'Workbooks' },
  { href: '/jobs', name: 'Jobs' },
];

/** Parts of the settings that somebody looks for by their own name. */
export const SETTINGS_PARTS: readonly NavItem[] = [
  { href: '/settings#zone', name: 'Time zone' },
  { href: '/settings#password', name: 'Password' },
  { href: '/settings#sessions', name: 'Sessions' },
  { href: '/settings/people#invite', name: 'Invite a person' },
  { href: '/settings/keys#make', name: 'Make a key' },
  { href: '/settings/webhooks#make', name: 'Set up a webhook' },
  { href: '/settings/backups#schedule', name: 'Schedule of backups' },
  { href: '/settings/storage#replica', name: 'Replica' },
  { href: '/settings/storage#kept', name: 'What is kept how long' },
];

/** The tabs of the settings. */
export const SETTINGS_NAV: readonly NavItem[] = [
  { href: '/settings', name: 'Account', exact: true },
  { href: '/settings/people', name: 'People' },
  { href: '/settings/keys', name: 'Keys' },
  { href: '/settings/webhooks', name: 'Webhooks' },
  { href: '/settings/thresholds', name: 'Thresholds' },
  { href: '/settings/storage', name: 'Storage' },
  { href: '/settings/backups', name: 'Backups' },
  { href: '/settings/ledger', name: 'Ledger' },
  { href: '/settings/hosts', name: 'Hosts' },
];
