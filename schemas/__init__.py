"""Records of the render stream: Avro schemas, typed views, codec, registry client, CloudEvents headers.

schemas.events        what the rest of the code reads and writes
schemas.codec         bytes of a record and back
schemas.cloudevents   headers of a record
schemas.registry      client of a schema registry, for Confluent's framing
schemas.definitions   the .avsc files themselves
"""
