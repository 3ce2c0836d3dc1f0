/** How accounts that are nobody's are told from those of people. Imports nothing. */

/** Domain of sessions by the admin key: the auth library tells accounts apart by an address; nothing is ever sent there. */
export const NOBODYS_DOMAIN = '@winterdock.internal';
