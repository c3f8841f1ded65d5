"""What a Linux desktop reads of an installed program: in menus, in software centres, and of its files."""

from datetime import UTC, datetime
from xml.sax.saxutils import escape

MIME_TYPE = "application/x-idlehive-project+json"
COMPONENT = "org.idlehive.Idlehive"
SUMMARY = "Give your computer's idle time to open deep-learning collaborations"
_SUMMARY_DE = "Leerlaufzeit des Computers offenen Deep-Learning-Projekten geben"
_KEYWORDS = "volunteer;computing;deep learning;training;distributed;GPU;"


def entry(program: str) -> str:
    """The desktop entry (Desktop Entry Specification 1.5); `program` is what a desktop runs."""
    return f"""[Desktop Entry]
Type=Application
Name=Idlehive
GenericName=Volunteer Computing
GenericName[de]=Verteiltes Rechnen
Comment={SUMMARY}
Comment[de]={_SUMMARY_DE}
Exec={program} open %u
Icon=idlehive
Terminal=false
Categories=Science;ArtificialIntelligence;
Keywords={_KEYWORDS}
MimeType={MIME_TYPE};x-scheme-handler/idlehive;
StartupWMClass=idlehive
StartupNotify=true
"""


def file_type() -> str:
    """The type of project files (Shared MIME-info Database)."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
  <mime-type type="{MIME_TYPE}">
    <comment>Idlehive project</comment>
    <comment xml:lang="de">Idlehive-Projekt</comment>
    <sub-class-of type="application/json"/>
    <glob pattern="*.idlehive"/>
  </mime-type>
</mime-info>
"""


def metainfo(version: str, built: int) -> str:
    """The AppStream metadata; `built` is the time of the release, UTC seconds."""
    day = datetime.fromtimestamp(built, UTC).date().isoformat()
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<component type="desktop-application">
  <id>{COMPONENT}</id>
  <name>Idlehive</name>
  <summary>{escape(SUMMARY)}</summary>
  <summary xml:lang="de">{escape(_SUMMARY_DE)}</summary>
  <metadata_license>CC0-1.0</metadata_license>
  <project_license>Apache-2.0</project_license>
  <developer id="org.idlehive"><name>The Idlehive contributors</name></developer>
  <description>
    <p>Idlehive trains models that many volunteers train together over ordinary home internet connections, and that
      belong to everyone. It uses only the hours, the processor, the graphics card and the network that you allow, stops
      within a fraction of a second when you want your computer for yourself, and keeps an honest record of what you
      gave.</p>
    <p>A practice project shows a whole collaboration without a network.</p>
  </description>
  <launchable type="desktop-id">idlehive.desktop</launchable>
  <provides>
    <binary>idlehive</binary>
    <mediatype>{MIME_TYPE}</mediatype>
    <mediatype>x-scheme-handler/idlehive</mediatype>
  </provides>
  <categories>
    <category>Science</category>
    <category>ArtificialIntelligence</category>
  </categories>
  <content_rating type="oars-1.1"/>
  <releases>
    <release version="{version}" date="{day}"/>
  </releases>
</component>
"""
