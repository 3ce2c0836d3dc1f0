CREATE TABLE `seeding_chunks` (
	`number` integer PRIMARY KEY NOT NULL,
	`first` text NOT NULL,
	`tenant` text NOT NULL,
	`path` text NOT NULL,
	`sandboxes` integer NOT NULL,
	`bytes` integer NOT NULL,
	`rows` text NOT NULL,
	`ledger` text NOT NULL,
	`start` text
);
--> statement-breakpoint
CREATE TRIGGER seeding_chunks_not_of_forgotten BEFORE INSERT ON seeding_chunks
WHEN EXISTS (SELECT 1 FROM forgettings WHERE tenant = new.tenant AND finished IS NULL) BEGIN
	SELECT raise(ABORT, 'the tenant is being forgotten');
END;
