ALTER TABLE `jobs` ADD `include_held` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
DROP TRIGGER instances_worded;
--> statement-breakpoint
DROP TABLE instance_text;
--> statement-breakpoint
CREATE VIRTUAL TABLE instance_text USING fts5(words, content='', contentless_delete=1, detail='none', tokenize='trigram case_sensitive 1');
--> statement-breakpoint
UPDATE instances SET words = winterdock_search_text(id, tenant, name, labels) WHERE tombstone = 0 OR words <> '';
--> statement-breakpoint
INSERT INTO instance_text(rowid, words) SELECT rowid, words FROM instances WHERE tombstone = 0;
--> statement-breakpoint
CREATE TRIGGER instances_worded AFTER UPDATE OF words ON instances
WHEN old.words IS NOT new.words AND new.tombstone = 0 BEGIN
	UPDATE instance_text SET words = new.words WHERE rowid = new.rowid;
END;
