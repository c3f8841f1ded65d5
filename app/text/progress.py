"""What a session computes and transfers, in words. Pure."""

from app.text.formats import amounts, numbers
from app.text.i18n import tr
from core.api.snapshot import Progress, Snapshot, Today, Traffic


def batch_share(progress: Progress) -> float:
    """How much of the batch all peers have computed, 0 to 1; 0 while the size is unknown."""
    return min(1.0, progress.epoch_samples / progress.target_batch_size) if progress.target_batch_size else 0.0


def loss(value: float) -> str:
    return tr("loss {loss}", loss=numbers.decimal(value, 2))


def speed(samples_per_second: float) -> str:
    """8.2/s."""
    return tr("{speed}/s", speed=numbers.figure(samples_per_second))


def epoch(progress: Progress) -> str:
    """Epoch 17: 63 % of 4,096 samples, 5 peers, loss 4.31."""
    parts = [amounts.peers(progress.peers)]
    if progress.target_batch_size:
        share, batch = numbers.percent(batch_share(progress)), amounts.samples(progress.target_batch_size)
        parts.insert(0, tr("{share} of {samples}", share=share, samples=batch))
    if progress.loss is not None:
        parts.append(loss(progress.loss))
    return tr("Epoch {epoch}: {line}", epoch=numbers.count(progress.epoch), line=", ".join(parts))


def epoch_done(epoch: int, last_loss: float | None) -> str:
    """An epoch that has ended: Epoch 18: loss 4.20."""
    number = numbers.count(epoch)
    if last_loss is None:
        return tr("Epoch {epoch}", epoch=number)
    return tr("Epoch {epoch}: {line}", epoch=number, line=loss(last_loss))


def own(progress: Progress) -> str:
    """1,234 samples at 8.2/s; without a speed while this computer computes nothing."""
    amount = amounts.samples(progress.samples)
    if not progress.samples_per_second:
        return amount
    return tr("{amount} at {speed}", amount=amount, speed=speed(progress.samples_per_second))


def today(today: Today) -> str:
    """1,234 samples, 3 epochs, 12 min."""
    return ", ".join([amounts.samples(today.samples), amounts.epochs(today.epochs), numbers.duration(today.seconds)])


def rates(snapshot: Snapshot) -> str:
    """152 samples/s, 2.1 Mbit/s up, 3.4 Mbit/s down; empty while nothing is computed, or nothing is known of it."""
    if snapshot.state != "contributing" or snapshot.silence:
        return ""
    own, traffic = numbers.figure(snapshot.progress.samples_per_second), snapshot.traffic
    up, down = numbers.rate(traffic.upload_rate), numbers.rate(traffic.download_rate)
    return tr("{speed} samples/s, {up} up, {down} down", speed=own, up=up, down=down)


def upload(traffic: Traffic) -> str:
    """34 MB sent (9.6 Mbit/s)."""
    amount, rate = numbers.size(traffic.uploaded), numbers.rate(traffic.upload_rate)
    return tr("{amount} sent ({rate})", amount=amount, rate=rate)


def download(traffic: Traffic) -> str:
    """12 MB received (2.4 Mbit/s)."""
    amount, rate = numbers.size(traffic.downloaded), numbers.rate(traffic.download_rate)
    return tr("{amount} received ({rate})", amount=amount, rate=rate)
