/** The roles of people, as options of a form. */
import { PERSON_ROLES } from '#lib/auth/roles.ts';
import { ROLE_MEANS } from '../account-words.ts';

export const ROLE_OPTIONS = PERSON_ROLES.map((role) => ({ value: role, label: `${role}: ${ROLE_MEANS[role]}` }));
