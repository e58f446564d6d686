"""The artifact store in a real folder."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from streams.artifacts.errors import ArtifactConflict, ArtifactCorrupt, ArtifactMissing, StoreUnavailable
from streams.artifacts.folder import UNFINISHED
from streams.artifacts.opening import open_store
from streams.artifacts.store import ArtifactStore
from streams.settings import Settings, SettingsError, load_settings
from tests.support.artifacts import CHECKSUM, CONTENT, KEY, OTHER, checksum_of, key_of


def settings_of(folder: Path, **changed: object) -> Settings:
    return load_settings(artifact_store=folder.as_uri(), **changed)


def opened(folder: Path) -> ArtifactStore:
    store = open_store(settings_of(folder))
    assert store is not None
    return store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "the store 100%"
    made.mkdir()
    return made


@pytest.fixture
def store(folder: Path) -> ArtifactStore:
    return opened(folder)


@pytest.fixture(params=["attributes", "no attributes"])
def either(request: pytest.FixtureRequest, folder: Path, monkeypatch: pytest.MonkeyPatch) -> ArtifactStore:
    """On a file system with extended attributes (if this one has them) and on one without."""
    if request.param == "no attributes":
        for name in ("setxattr", "getxattr"):
            monkeypatch.setattr(os, name, _unsupported, raising=False)
    return opened(folder)


def _unsupported(*_: object) -> None:
    raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))


def damage(file: Path) -> None:
    """Flip a bit and leave everything else as it is."""
    content = file.read_bytes()
    with file.open("r+b") as opened_file:
        opened_file.write(bytes([content[0] ^ 1]))


def test_what_was_put_is_a_file_under_its_reference(either: ArtifactStore, folder: Path) -> None:
    reference = either.put(KEY, CONTENT, CHECKSUM)
    assert reference == (folder / KEY).as_uri()
    assert "the%20store%20100%25/qr-1/" in reference
    assert either.key_of(reference) == KEY
    assert either.key_of("s3://bucket/" + KEY) is None
    assert (folder / KEY).read_bytes() == CONTENT
    assert either.get(KEY, CHECKSUM) == CONTENT
    assert either.find(KEY) == CONTENT


def test_equal_bytes_are_adopted_and_other_bytes_conflict_and_stay(either: ArtifactStore, folder: Path) -> None:
    either.put(KEY, OTHER, checksum_of(OTHER))
    either.put(KEY, OTHER, checksum_of(OTHER))
    with pytest.raises(ArtifactConflict):
        either.put(KEY, CONTENT, CHECKSUM)
    assert (folder / KEY).read_bytes() == OTHER
    assert {outcome: either.counts.count("put", outcome) for outcome in ("ok", "adopted", "conflict", "failed")} == {"ok": 1, "adopted": 1, "conflict": 1, "failed": 0}


def test_a_missing_file_is_missing(either: ArtifactStore) -> None:
    with pytest.raises(ArtifactMissing):
        either.get(KEY, CHECKSUM)
    assert either.find(KEY) is None


def test_a_corrupt_file_is_never_served_and_is_replaced(either: ArtifactStore, folder: Path) -> None:
    either.put(KEY, CONTENT, CHECKSUM)
    damage(folder / KEY)
    with pytest.raises(ArtifactCorrupt):
        either.get(KEY, CHECKSUM)
    either.replace(KEY, CONTENT, CHECKSUM)
    either.replace(KEY, CONTENT, CHECKSUM)
    assert either.get(KEY, CHECKSUM) == CONTENT
    assert either.counts.count("replace", "ok") == 1
    assert either.counts.count("replace", "adopted") == 1


def has_attributes(folder: Path) -> bool:
    if not hasattr(os, "setxattr"):
        return False
    try:
        os.setxattr(folder, "user.qrstream.test", b"1")
    except OSError:
        return False
    return True


def test_a_damaged_file_is_not_adopted_and_the_next_put_mends_it(store: ArtifactStore, folder: Path) -> None:
    if not has_attributes(folder):
        pytest.skip("this file system has no extended attributes")
    store.put(KEY, CONTENT, CHECKSUM)
    damage(folder / KEY)
    assert store.find(KEY) is None
    store.put(KEY, CONTENT, CHECKSUM)
    assert (folder / KEY).read_bytes() == CONTENT
    assert store.counts.count("find", "corrupt") == 1
    assert store.counts.count("put", "mended") == 1


def test_a_sound_file_is_not_replaced(store: ArtifactStore, folder: Path) -> None:
    if not has_attributes(folder):
        pytest.skip("this file system has no extended attributes")
    store.put(KEY, OTHER, checksum_of(OTHER))
    with pytest.raises(ArtifactConflict):
        store.replace(KEY, CONTENT, CHECKSUM)
    assert (folder / KEY).read_bytes() == OTHER


def test_of_many_writers_at_once_one_puts_and_all_others_adopt(folder: Path) -> None:
    stores = [opened(folder) for _ in range(8)]
    keys = [key_of(f"artifact {number}") for number in range(20)]
    together = Barrier(len(stores))

    def put_all(store: ArtifactStore) -> None:
        for key in keys:
            together.wait(60)
            store.put(key, CONTENT, CHECKSUM)

    with ThreadPoolExecutor(len(stores)) as threads:
        list(threads.map(put_all, stores))
    assert sum(store.counts.count("put", "ok") for store in stores) == len(keys)
    assert sum(store.counts.count("put", "adopted") for store in stores) == len(keys) * (len(stores) - 1)
    assert list((folder / UNFINISHED).iterdir()) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only /proc names the file that is flushed")
def test_the_bytes_are_on_the_disk_before_the_name_is_and_the_name_before_put_returns(store: ArtifactStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []

    def watched(name: str) -> None:
        real: Callable[..., None] = getattr(os, name)

        def step(first: object, *rest: object) -> None:
            what = Path(f"/proc/self/fd/{first}").readlink() if name == "fsync" else Path(str(rest[0]))
            steps.append(f"{name} {'draft' if what.parent.name == UNFINISHED else what.relative_to(folder)}")
            real(first, *rest)

        monkeypatch.setattr(os, name, step)

    watched("fsync")
    watched("link")
    store.put(KEY, CONTENT, CHECKSUM)
    two_digits = Path(KEY).parent
    assert steps == ["fsync draft", "fsync .", f"fsync {two_digits.parent}", f"link {KEY}", f"fsync {two_digits}"]


def test_a_write_that_breaks_off_leaves_no_name_and_the_next_put_stores(store: ArtifactStore, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        with pytest.raises(StoreUnavailable, match="No space left on device") as raised:
            store.put(KEY, CONTENT, CHECKSUM)
    assert raised.value.kind == "io"
    assert not (folder / KEY).exists()
    assert list((folder / UNFINISHED).iterdir()) == []
    store.put(KEY, CONTENT, CHECKSUM)
    assert store.counts.count("put", "ok") == 1


def test_a_folder_that_has_gone_is_unavailable_and_not_a_missing_artifact(store: ArtifactStore, folder: Path) -> None:
    store.put(KEY, CONTENT, CHECKSUM)
    shutil.rmtree(folder)
    folder.mkdir()  # as a mount point is when nothing is mounted on it
    for call in (lambda: store.get(KEY, CHECKSUM), lambda: store.find(KEY), lambda: store.put(KEY, CONTENT, CHECKSUM)):
        with pytest.raises(StoreUnavailable):
            call()


def test_what_dead_workers_left_is_removed_after_a_day_and_not_before(folder: Path) -> None:
    (folder / UNFINISHED).mkdir()
    old, young = folder / UNFINISHED / "old", folder / UNFINISHED / "young"
    for file in (old, young):
        file.write_bytes(b"half")
    os.utime(old, (time.time() - 90_000,) * 2)
    opened(folder)
    assert list((folder / UNFINISHED).iterdir()) == [young]


def test_an_artifact_with_another_checksum_is_a_mistake_of_the_program(store: ArtifactStore) -> None:
    for write in (store.put, store.replace):
        with pytest.raises(ValueError, match="does not have the checksum"):
            write(KEY, OTHER, CHECKSUM)


def test_what_was_counted_does_not_change_afterwards(store: ArtifactStore) -> None:
    store.put(KEY, CONTENT, CHECKSUM)
    before = store.counts
    store.put(KEY, CONTENT, CHECKSUM)
    assert before.count("put", "adopted") == 0
    tally = store.counts.calls["put", "adopted"]
    assert tally.count == 1
    assert 0 < tally.seconds == tally.longest


def test_no_such_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"QR_ARTIFACT_STORE=file:///.*/absent: there is no folder .*/absent; make or mount it first$"):
        open_store(settings_of(tmp_path / "absent"))


def test_a_folder_that_cannot_be_written_is_one_line(folder: Path) -> None:
    (folder / UNFINISHED).write_bytes(b"a file where a folder should be, which stops root too")
    with pytest.raises(SettingsError, match="files cannot be made and linked there: "):
        open_store(settings_of(folder))


def test_a_file_system_without_links_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(SettingsError, match="linked there: Operation not permitted"):
        open_store(settings_of(folder))
    assert list((folder / UNFINISHED).iterdir()) == []


@pytest.mark.parametrize("url", ["file:///a?b", "file:///a#b", "file:///a/../b", "file:///%00"])
def test_an_ambiguous_folder_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="give file:///absolute/folder"):
        open_store(load_settings(artifact_store=url))
