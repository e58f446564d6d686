"""Records of the render stream: Avro schemas, typed views, codec, registry client, CloudEvents headers."""
